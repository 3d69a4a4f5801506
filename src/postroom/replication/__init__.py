"""Change events, their delivery to subscribers, and replicas of catalogs."""
