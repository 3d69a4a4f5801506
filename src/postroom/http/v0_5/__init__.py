"""The Registry Service of 0.5 over HTTP, as one mount: names, shapes and headers of 2023 around the same registry."""
