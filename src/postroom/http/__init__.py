"""The service: the xRegistry API, the older services, and our own."""
