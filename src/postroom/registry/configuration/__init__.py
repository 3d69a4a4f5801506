"""The model and the capabilities of a registry, and how they change."""
