"""The rules of lint, one module per subject."""
