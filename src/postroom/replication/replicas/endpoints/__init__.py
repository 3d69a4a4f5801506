"""Endpoints of links: a store, a service of ours or of others, a message catalog, files."""
