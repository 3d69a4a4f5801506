"""Pages of what a registry holds: collections, groups, definitions, schemas, their examples and their history."""
