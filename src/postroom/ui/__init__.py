"""Web pages: find, understand, try and watch what the registry holds. HTML made here, and no framework."""
