"""The rules of a registry: reading and changing entities. No HTTP, no SQL."""
