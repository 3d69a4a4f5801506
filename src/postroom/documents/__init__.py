"""Catalogs as files, services and stores: read and write."""
