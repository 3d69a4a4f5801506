"""Sinks of subscriptions: one module for each protocol."""
