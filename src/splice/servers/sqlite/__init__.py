"""A SQLite file for models to ask and change: `splice serve sqlite --db-path shop.db`."""
