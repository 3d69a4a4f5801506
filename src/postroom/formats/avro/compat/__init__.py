"""Compare two Avro schemas."""
