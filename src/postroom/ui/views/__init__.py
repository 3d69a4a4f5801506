"""Pages that are about more than one entity: the first page, search, trying, changes, the lake, the graph."""
