"""What a write leaves beside the entities: rows of the change log, provenance, attachments."""
