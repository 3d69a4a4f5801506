"""Access over HTTP: the credentials of requests, signing in with a browser, and managing keys and grants."""
