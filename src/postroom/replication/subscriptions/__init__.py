"""Who is told of changes: subscriptions, their filters, and the delivery to sinks."""
