"""Message definitions and their two uses: as a template and as a filter."""
