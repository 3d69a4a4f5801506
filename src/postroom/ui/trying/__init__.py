"""Trying things: pasted messages against the definitions, and pasted schemas against stored ones. Nothing is stored."""
