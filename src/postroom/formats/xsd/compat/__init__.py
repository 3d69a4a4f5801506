"""Compare two XML Schemas."""
