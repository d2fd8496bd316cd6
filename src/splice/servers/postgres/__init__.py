"""A PostgreSQL database for models to ask: `splice serve postgres --dsn postgresql://reader@localhost/shop`."""
