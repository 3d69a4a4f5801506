"""Open the store that a URL names."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

from postroom.catalog.wiring import RULES
from postroom.errors import ExtraMissing, FileMissing, SourceUnknown
from postroom.model.includes import Fetch, refuse_fetch
from postroom.registry.numbering.number_existing import is_numbered, number_existing
from postroom.registry.operations import initialise
from postroom.registry.rules import Rules
from postroom.registry.search.search_index import index_existing, is_indexed
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.store.retention import FOREVER, Retention
from postroom.urls import masked

LOG = logging.getLogger(__name__)
SQLITE = "sqlite:///"
POSTGRES = ("postgresql", "postgres")
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
    registry_id: str = "",
) -> Store:
    """The store of a URL (`sqlite:///relative.db`, `sqlite:////absolute/path.db`, `postgresql://host/database`); an
    empty one gets the model.

    With `create=False` one that is not there is an error instead of a new registry; `fetch` gets what the model
    includes from elsewhere; `rules` are what the registry demands beyond its model; `retention` says which changes
    are forgotten as new ones come; a write waits so many seconds for its turn; `registry_id` is for a new registry.
    """
    store = connect_store(url, create=create, rules=rules, retention=retention, write_wait_s=write_wait_s)
    try:
        _initialise(store, url, model if create else "", fetch, registry_id)
    except BaseException:
        store.close()
        raise
    return store


def retention_of(settings: Settings) -> Retention:
    """What settings say of changes and history."""
    return Retention(
        days=settings.changes_kept_days,
        count=settings.changes_kept,
        with_history=settings.history_kept == "with_changes",
    )


def connect_store(
    url: str,
    *,
    create: bool = True,
    rules: Rules | None = None,
    retention: Retention = FOREVER,
    write_wait_s: float = 10.0,
) -> Store:
    """The store of a URL, whether or not there is a registry in it."""
    is_postgres = url.partition(":")[0] in POSTGRES
    opened = _open_postgres if is_postgres else _open_sqlite
    return opened(url, create, rules or RULES, retention, write_wait_s)


def _initialise(store: Store, url: str, model: str, fetch: Fetch, registry_id: str) -> None:
    with store.read() as tx:
        found, has_numbers, has_index = tx.entity("/"), is_numbered(tx), is_indexed(tx)
    if found is not None and not has_numbers:
        with store.write() as tx:
            number_existing(tx)
    if found is not None and not has_index:
        with store.write() as tx:
            index_existing(tx)
    if found is not None:
        if registry_id and found.id != registry_id:
            words = "%s has the registry %s; only a new one could be called %s"
            LOG.warning(words, masked(url), found.id, registry_id)
        return
    if not model:
        raise FileMissing("there is no registry in this database.", place=masked(url))
    with store.write() as tx:
        initialise(tx, model, fetch, registry_id)


def _open_sqlite(url: str, create: bool, rules: Rules, retention: Retention, wait_s: float) -> Store:
    if not url.startswith(SQLITE) or len(url) == len(SQLITE):
        remedy = "A store looks like sqlite:///path.db or postgresql://host/database."
        raise SourceUnknown("this is no store.", place=masked(url), remedy=remedy)
    from postroom.store.sqlite import SqliteStore

    path = Path(url.removeprefix(SQLITE))
    if not create and not path.exists():
        raise FileMissing("there is no such database.", place=str(path))
    return SqliteStore(path, rules, retention, wait_s)


def _open_postgres(url: str, _create: bool, rules: Rules, retention: Retention, wait_s: float) -> Store:
    try:
        from postroom.store.postgres import PostgresStore
    except ImportError:
        raise ExtraMissing("this needs `pip install 'postroom[postgres]'`.", place="psycopg") from None
    return PostgresStore(url, rules, retention, wait_s)


def warn_if_world_readable(url: str) -> None:
    """Log a warning when everybody on this machine may read a file: an older version or a person made it so."""
    if not url.startswith(SQLITE):
        return
    path = Path(url.removeprefix(SQLITE))
    if path.stat().st_mode & _WORLD:
        sentence = "%s can be read by everybody on this machine, passwords of sinks and links included; chmod 600 %s*"
        LOG.warning(sentence, path, path)
