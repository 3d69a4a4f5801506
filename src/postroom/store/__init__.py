"""Where entities live."""
