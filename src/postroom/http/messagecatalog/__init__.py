"""The CNCF Message and Event Catalog API over the same registry: groups, definitions and their versions."""
