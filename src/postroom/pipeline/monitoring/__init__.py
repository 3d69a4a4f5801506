"""What a run tells while it goes on: progress on a terminal, a log line per batch, metrics on a port."""
