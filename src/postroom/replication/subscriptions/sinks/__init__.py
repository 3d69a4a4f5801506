"""Where the events of subscriptions go: one module for each protocol."""
