"""What happened to a registry: its change log as events, page by page, with the values before and after."""
