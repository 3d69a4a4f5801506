"""What leaves a registry as it changes: change events, who gets them, and copies in other catalogs."""
