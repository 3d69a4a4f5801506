"""The Registry Service 0.5 over the same registry."""
