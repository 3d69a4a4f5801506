"""A definition as a template: make conformant messages."""
