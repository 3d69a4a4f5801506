"""The lake: its tables, manifests, commits and ledger."""
