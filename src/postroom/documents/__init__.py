"""Catalog documents: files of every dialect, their conversion, lint, diff, and schemas for editors."""
