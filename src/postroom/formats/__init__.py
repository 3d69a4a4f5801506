"""Payload schemas: one interface, one folder per format."""
