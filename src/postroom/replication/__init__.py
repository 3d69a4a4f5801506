"""Change events, subscriptions and replicas of catalogs."""
