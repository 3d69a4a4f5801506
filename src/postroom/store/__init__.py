"""Where entities live: the interface of stores, SQLite and PostgreSQL."""
