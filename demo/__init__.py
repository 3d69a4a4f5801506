"""The demonstration: a small company's catalog, its traffic, and the main job of Postroom end to end."""
