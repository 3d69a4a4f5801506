"""The changes of an entity with their values, from a store or from a running service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec

from postroom.catalog.service_client import ServiceClient, open_client
from postroom.errors import ServiceRefused, SourceUnknown
from postroom.replication.changes.audit import AuditEntry, entry_of
from postroom.replication.changes.feed import logged_xid, page_of
from postroom.settings import Settings

AT_ONCE = 500
_CHANGES = "/-/changes"


class _Page(msgspec.Struct):
    changes: list[AuditEntry]
    cursor: str
    more: bool


def read_log(source: str, xid: str, settings: Settings) -> Iterator[AuditEntry]:
    """All that is kept of what happened to an entity and what is below it, oldest first."""
    subject = logged_xid(xid, "log")
    if source.startswith(("http://", "https://")):
        return _of_service(source, subject, settings)
    if source.startswith(("sqlite:", "postgresql:", "postgres:")):
        return _of_store(source, subject)
    remedy = "Give sqlite:///path.db, or http(s)://… of a running service."
    raise SourceUnknown("only a store or a service has a log.", place=source, remedy=remedy)


def _of_store(url: str, xid: str) -> Iterator[AuditEntry]:
    from postroom.catalog.open_store import open_store

    cursor, more = "", True
    with open_store(url, create=False) as store:
        while more:
            with store.read() as tx:
                page = page_of(tx, cursor, AT_ONCE, xid)
                entries = [entry_of(tx, change) for change in page.changes]
            yield from entries
            cursor, more = page.cursor, page.more


def _of_service(url: str, xid: str, settings: Settings) -> Iterator[AuditEntry]:
    cursor, more = "", True
    with open_client(url, settings) as client:
        while more:
            page = _page(client, {"xid": xid, "values": "", "limit": AT_ONCE, "after": cursor})
            yield from page.changes
            cursor, more = page.cursor, page.more


def _page(client: ServiceClient, query: dict[str, Any]) -> _Page:
    response = client.ask("GET", f"{_CHANGES}?{urlencode(query)}")
    if response.status >= 400:
        sentence = f"the service answers {response.status}, it may have no log."
        raise ServiceRefused(sentence, place=client.name + _CHANGES)
    try:
        return msgspec.json.decode(response.body, type=_Page)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ServiceRefused("what the service answers is no log.", place=client.name + _CHANGES) from None
