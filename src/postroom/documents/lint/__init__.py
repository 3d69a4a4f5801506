"""Lint: what is wrong with a catalog, or will surprise somebody, with its place and what to do."""
