"""Subscriptions to change events: their filters, and the delivery to sinks."""
