"""Create, update and delete entities."""
