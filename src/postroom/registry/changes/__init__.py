"""What the change log and the history say about a write: rows, provenance, attachments."""
