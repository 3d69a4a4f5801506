"""Messages on the wire, one module per protocol, and CloudEvents in and out."""
