"""Replicate catalogs: links, digests, units, conflict policy."""
