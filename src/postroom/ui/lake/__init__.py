"""Pages of a lake: its tables, its ledger, its dead letters and what would become of them now."""
