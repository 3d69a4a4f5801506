"""Numbers of schemas: ids of what they say, one numbering per Group, and numbers of their Versions."""
