"""Sinks of subscriptions, one module per protocol."""
