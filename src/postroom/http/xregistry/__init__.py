"""The xRegistry 1.0-rc4 HTTP binding."""
