"""Outgoing HTTP: one policy, and one client, for every request that leaves the process."""
