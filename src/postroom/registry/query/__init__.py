"""Query flags of a request: filter, sort, inline, pages, ignore."""
