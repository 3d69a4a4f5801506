"""Compare two Protobuf schemas."""
