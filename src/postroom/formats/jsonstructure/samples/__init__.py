"""Sample values for JSON Structure types."""
