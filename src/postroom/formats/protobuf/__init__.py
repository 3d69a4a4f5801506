"""Protocol Buffers: proto2, proto3 and editions."""
