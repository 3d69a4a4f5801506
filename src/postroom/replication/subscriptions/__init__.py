"""Subscriptions: filters, and the delivery of events to sinks."""
