"""Compare two catalogs: what changed, and whom it breaks."""
