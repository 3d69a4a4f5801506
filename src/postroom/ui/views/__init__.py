"""Pages that are about more than one entity: the first page, search, changes, the model, the graph."""
