"""The audit log: who changed what, with the values before and after, from a transaction, a store or a service."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec

from postroom.catalog.service_client import ServiceClient, open_client
from postroom.errors import ServiceRefused, SourceUnknown
from postroom.registry.configuration.capabilities import read_capabilities
from postroom.registry.entities import Action, Change, Document, Entity
from postroom.registry.transaction_interface import Transaction
from postroom.replication.changes.feed import logged_xid, page_of
from postroom.settings import Settings

LARGEST_SHOWN = 64 * 1024
"""A document that is larger is shown by its size and digest."""

AT_ONCE = 500
_CHANGES = "/-/changes"

Values = dict[str, Any]


class AuditEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change, with each value that it set, changed or took away."""

    id: str
    time: str
    xid: str
    action: Action
    epoch: int
    xregcorrelationid: str
    actor: str = ""
    changed: tuple[str, ...] = ()
    values: dict[str, Values] = {}
    """By attribute: `old` and `new`, one of them absent when there was or is none."""


def entry_of(tx: Transaction, change: Change) -> AuditEntry:
    """The entry of a row.

    What only the default Version of a Resource changed stands at the Version, and the members of a deprecation at
    the update that came with it; of a model there is the source.
    """
    before, new = _before(tx, change), _after(tx, change)
    if before is None and change.action != "created":
        new = {}
    old = before or {}
    names = sorted(old.keys() | new.keys())
    differing = [name for name in names if name not in old or name not in new or old[name] != new[name]]
    values = {
        name: {key: side[name] for key, side in (("old", old), ("new", new)) if name in side} for name in differing
    }
    return AuditEntry(
        id=change.mark,
        time=change.time,
        xid=change.xid,
        action=change.action,
        epoch=change.epoch,
        xregcorrelationid=change.correlation,
        actor=change.actor,
        changed=change.changed,
        values=values,
    )


def _before(tx: Transaction, change: Change) -> Values | None:
    found = tx.superseded(change.xid, change.sequence - 1)
    return _values(tx, found[1]) if found is not None and found[0] == change.sequence else None


def _after(tx: Transaction, change: Change) -> Values:
    """What the next change superseded, or what is there now."""
    if change.action == "deleted":
        return {}
    found = tx.superseded(change.xid, change.sequence)
    if found is not None:
        return _values(tx, found[1])
    if change.xid == "/capabilities":
        return read_capabilities(tx).document()
    if change.xid == "/modelsource":
        return tx.modelsource()
    entity = tx.entity(change.xid)
    return _values(tx, entity) if entity is not None else {}


def _values(tx: Transaction, entity: Entity) -> Values:
    if entity.xid in ("/capabilities", "/modelsource"):
        return entity.attributes
    stamps = {"epoch": entity.epoch, "createdat": entity.createdat, "modifiedat": entity.modifiedat}
    found = {**{name: value for name, value in entity.attributes.items() if value is not None}, **stamps}
    if entity.xid.count("/") == 4:
        return {f"meta.{name}": value for name, value in found.items()}
    if entity.document is not None:
        found |= _document(_singular(tx, entity.xid), entity.document)
    return found


def _document(singular: str, document: Document) -> Values:
    if document.url:
        return {singular + "url": document.url}
    if len(document.content) > LARGEST_SHOWN:
        digest = hashlib.sha256(document.content).hexdigest()
        return {singular: {"bytes": len(document.content), "sha256": digest}}
    try:
        return {singular: document.content.decode()}
    except UnicodeDecodeError:
        return {singular + "base64": base64.b64encode(document.content).decode()}


def _singular(tx: Transaction, xid: str) -> str:
    """The singular name of a Resource type; the model may have lost it since."""
    group, plural = xid.split("/")[1:4:2]
    kind = tx.model().groups.get(group)
    resource = kind.resources.get(plural) if kind else None
    return resource.singular if resource else "document"


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
    remedy = "Give sqlite:///path.db, postgresql://host/database, or http(s)://… of a running service."
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
