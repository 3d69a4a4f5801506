"""Where entities live: the store interface, and SQLite."""
