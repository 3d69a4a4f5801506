"""From a catalog document to compiled message definitions."""
