"""Sample documents for XML Schemas."""
