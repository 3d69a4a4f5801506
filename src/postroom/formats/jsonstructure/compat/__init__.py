"""Compare two JSON Structure schemas."""
