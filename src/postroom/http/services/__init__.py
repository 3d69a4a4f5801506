"""Services beside the xRegistry API: match and make, changes, subscriptions, replication."""
