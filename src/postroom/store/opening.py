"""From a URL to a store."""

from __future__ import annotations

from pathlib import Path

from postroom.errors import SourceUnknown, StoreUnusable
from postroom.registry.operations import initialise
from postroom.store.interface import Store

SQLITE = "sqlite:///"


def open_store(url: str, model: str = "messaging") -> Store:
    """The store of a URL (`sqlite:///relative.db`, `sqlite:////absolute/path.db`); an empty one gets the model."""
    scheme = url.partition(":")[0]
    if scheme in ("postgresql", "postgres"):
        raise StoreUnusable("this version has no PostgreSQL store yet.", place=url, remedy="Use sqlite:///path.db.")
    if not url.startswith(SQLITE) or len(url) == len(SQLITE):
        raise SourceUnknown("this is no store.", place=url, remedy="A store looks like sqlite:///path.db.")
    from postroom.store.sqlite import SqliteStore

    store = SqliteStore(Path(url.removeprefix(SQLITE)))
    try:
        with store.write() as tx:
            initialise(tx, model)
    except BaseException:
        store.close()
        raise
    return store
