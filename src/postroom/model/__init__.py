"""What a registry may contain: attributes, group types, resource types."""
