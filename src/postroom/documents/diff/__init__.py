"""What changed between two catalogs, and whom it breaks: consumers or producers of messages, or nobody."""
