"""Validate JSON values by JSON Structure types."""
