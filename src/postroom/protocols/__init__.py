"""Wire forms: how a message looks on each protocol, and how to get from a record to a message and back."""
