"""Spark: from a mixed stream to one Delta table per message definition."""
