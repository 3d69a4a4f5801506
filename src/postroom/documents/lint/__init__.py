"""Lint: problems of a catalog, with pointer, severity and remedy."""
