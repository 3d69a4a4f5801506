"""CloudEvents SQL (CESQL 1.0), the expression language of filters."""
