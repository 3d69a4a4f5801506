"""Who changed what: rows of the change log with the values before and after, which the history keeps."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec

from postroom.registry.configuration.capabilities import read_capabilities
from postroom.registry.entities import Action, Change, Document, Entity
from postroom.registry.transaction import Transaction

LARGEST_SHOWN = 64 * 1024
"""A document that is larger is shown by its size and digest."""

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
