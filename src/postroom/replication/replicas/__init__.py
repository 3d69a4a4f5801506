"""Replicas of catalogs: units and their digests, conflict policy, links and how they run."""
