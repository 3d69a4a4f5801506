"""Payload schemas: one interface, one module per format."""
