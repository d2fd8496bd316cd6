"""The reference server for thinking step by step; `splice serve sequential-thinking` starts it."""
