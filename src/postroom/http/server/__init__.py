"""The ASGI application and the processes around it: connections, requests, responses, threads, caching."""
