"""Catalogs that copy each other: what is compared, who is right, links and how they run."""
