"""Older versions of the xRegistry specification over HTTP: their words on both sides, the rules of today between."""
