"""Compare two JSON Schemas."""
