"""The two ends of a link: a store, a service of ours or of others, a message catalog, files."""
