"""Open the store that a URL names."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

from postroom.catalog.wiring import RULES
from postroom.errors import FileMissing, SourceUnknown, StoreUnusable
from postroom.model.includes import Fetch, refuse_fetch
from postroom.registry.operations import initialise
from postroom.registry.rules import Rules
from postroom.store.interface import Store
from postroom.store.retention import FOREVER, Retention

LOG = logging.getLogger(__name__)
SQLITE = "sqlite:///"
_WORLD = stat.S_IRWXO


def open_store(
    url: str,
    model: str = "messaging",
    *,
    create: bool = True,
    fetch: Fetch = refuse_fetch,
    rules: Rules | None = None,
    retention: Retention = FOREVER,
    write_wait_s: float = 10.0,
) -> Store:
    """The store of a URL (`sqlite:///relative.db`, `sqlite:////absolute/path.db`); an empty one gets the model.

    With `create=False` a file that is not there is an error instead of a new registry; `fetch` gets what the model
    includes from elsewhere; `rules` are what the registry demands beyond its model; `retention` says which changes
    are forgotten as new ones come; a write waits so many seconds for its turn.
    """
    scheme = url.partition(":")[0]
    if scheme in ("postgresql", "postgres"):
        raise StoreUnusable("this version has no PostgreSQL store yet.", place=url, remedy="Use sqlite:///path.db.")
    if not url.startswith(SQLITE) or len(url) == len(SQLITE):
        raise SourceUnknown("this is no store.", place=url, remedy="A store looks like sqlite:///path.db.")
    from postroom.store.sqlite import SqliteStore

    path = Path(url.removeprefix(SQLITE))
    if not create and not path.exists():
        raise FileMissing("there is no such database.", place=str(path))
    store = SqliteStore(path, rules or RULES, retention, write_wait_s)
    try:
        with store.read() as tx:
            is_new = tx.entity("/") is None
        if is_new:
            with store.write() as tx:
                initialise(tx, model, fetch)
    except BaseException:
        store.close()
        raise
    return store


def warn_if_world_readable(url: str) -> None:
    """Log a warning when everybody on this machine may read a store: an older version or a person made it so."""
    path = Path(url.removeprefix(SQLITE))
    if path.stat().st_mode & _WORLD:
        sentence = "%s can be read by everybody on this machine, passwords of sinks and links included; chmod 600 %s*"
        LOG.warning(sentence, path, path)
