"""Who asks, and what they may do: keys, tokens and sessions, and the grants of principals. No HTTP server in it."""
