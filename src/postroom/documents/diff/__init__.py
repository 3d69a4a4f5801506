"""What changed between two catalogs, and for whom: readers of words, consumers or producers of messages."""
