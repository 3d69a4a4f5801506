"""The changes of an entity with their values, from a store or from a running service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from postroom.errors import ServiceRefused, ServiceUnreachable, SourceUnknown
from postroom.replication.changes.audit import Entry, entry_of
from postroom.replication.changes.feed import logged_xid, page_of
from postroom.settings import Settings

AT_ONCE = 500


class _Page(msgspec.Struct):
    changes: list[Entry]
    cursor: str
    more: bool


def read_log(source: str, xid: str, settings: Settings) -> Iterator[Entry]:
    """All that is kept of what happened to an entity and what is below it, oldest first."""
    subject = logged_xid(xid, "log")
    if source.startswith(("http://", "https://")):
        return _of_service(source, subject, settings)
    if source.startswith(("sqlite:", "postgresql:", "postgres:")):
        return _of_store(source, subject)
    remedy = "Give sqlite:///path.db, or http(s)://… of a running service."
    raise SourceUnknown("only a store or a service has a log.", place=source, remedy=remedy)


def _of_store(url: str, xid: str) -> Iterator[Entry]:
    from postroom.catalog.open_store import open_store

    cursor, more = "", True
    with open_store(url, create=False) as store:
        while more:
            with store.read() as tx:
                page = page_of(tx, cursor, AT_ONCE, xid)
                entries = [entry_of(tx, change) for change in page.changes]
            yield from entries
            cursor, more = page.cursor, page.more


def _of_service(url: str, xid: str, settings: Settings) -> Iterator[Entry]:
    cursor, more = "", True
    while more:
        query = {"xid": xid, "values": "", "limit": AT_ONCE, "after": cursor}
        page = _asked(url.rstrip("/") + "/-/changes", query, settings)
        yield from page.changes
        cursor, more = page.cursor, page.more


def _asked(url: str, query: dict[str, Any], settings: Settings) -> _Page:
    import httpx

    try:
        answer = httpx.get(url, params=query, timeout=settings.timeout_s)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        remedy = "Is it running? `postroom serve` starts one."
        raise ServiceUnreachable(f"the service does not answer ({error}).", place=url, remedy=remedy) from None
    if answer.status_code >= 400:
        raise ServiceRefused(f"the service answers {answer.status_code}, it may have no log.", place=url)
    try:
        return msgspec.json.decode(answer.content, type=_Page)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ServiceRefused("what the service answers is no log.", place=url) from None
