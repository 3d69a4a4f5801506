"""Sample values for JSON Schemas."""
