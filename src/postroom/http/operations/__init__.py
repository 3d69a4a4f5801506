"""What those who run the service look at: metrics, the access log, traces, and the description of its API."""
