"""CloudEvents SQL: the expression language that filters events by their attributes (CESQL 1.0)."""
