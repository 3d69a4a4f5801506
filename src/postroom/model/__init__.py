"""What a registry may contain."""
