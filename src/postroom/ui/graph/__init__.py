"""The graph: from endpoints by way of groups, messages and schemas to tables, as a picture and as a list."""
