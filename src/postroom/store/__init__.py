"""Where entities live: the interface of stores, and SQLite."""
