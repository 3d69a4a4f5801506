"""Where entities live: stores, opened by URL."""

from postroom.store.opening import open_store

__all__ = ["open_store"]
