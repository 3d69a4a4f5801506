"""Search: words, the index of entities and of payload fields, and the queries on it."""
