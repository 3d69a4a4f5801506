"""Look into a lake: tables, SQL, metrics."""
