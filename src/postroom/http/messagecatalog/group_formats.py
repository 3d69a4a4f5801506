"""The format of a group: one name in the message catalog, an envelope, a protocol or constraints in the registry."""

from __future__ import annotations

from typing import Any

from postroom.documents.dialects.messagecatalog_sections import (
    NATIVE,
    format_of,
    group_selectors,
    other_constraints,
)
from postroom.model.constraints import constraint_error
from postroom.model.types import GroupConstraint, GroupType
from postroom.registry.changes.entity_attachments import attach, attachment
from postroom.registry.entities import Entity
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.constraints import constraint_of

Tree = dict[str, Any]

_NOTE = "catalogformat"


def group_format(tx: Transaction, group: Entity) -> str:
    """The format of a group: as it was put, else what its envelope, its protocol or its first message says."""
    form = _noted(tx, group) or _own_format({}, group.attributes)
    if form:
        return form
    first = next(iter(tx.ids(f"{group.xid}/messages", "", 1)), None)
    message = default_version(tx, f"{group.xid}/messages/{first}") if first else None
    return _own_format(message.attributes if message else {}, group.attributes) or NATIVE


def store_format(tx: Transaction, group_xid: str, form: str) -> None:
    """Remember the format that a group was put with: not every one shows in its envelope or protocol."""
    attach(tx, group_xid, _NOTE, form.encode())


def message_format(tx: Transaction, message: Tree, group: Entity) -> str:
    """The format of a message: that of its group, unless the group has several."""
    return _own_format(message, group.attributes) or _noted(tx, group) or NATIVE


def _noted(tx: Transaction, group: Entity) -> str:
    """The format that a group was put with, unless the registry says another one meanwhile."""
    noted = (attachment(tx, group.xid, _NOTE) or b"").decode()
    return noted if format_of({}, group.attributes) in ("", noted) else ""


def _own_format(message: Tree, group: Tree) -> str:
    protocol = message.get("protocol") or group.get("protocol")
    return format_of(message, group) or (protocol if isinstance(protocol, str) else "")


def selectors(form: str, kind: GroupType, group: Tree) -> Tree:
    """What a group of a format says in the registry instead of what it said; a name that has no value is to go."""
    wanted = group_selectors(form)
    ours = {
        key: value
        for key, value in wanted.get("constraints", {}).items()
        if not constraint_error(kind, key, constraint_of(value), kind.constraints.get(key, GroupConstraint()))
    }
    constraints = {**ours, **other_constraints(group)}
    return {"envelope": None, "protocol": None, **wanted, "constraints": constraints or None}


def default_version(tx: Transaction, resource_xid: str) -> Entity | None:
    """The default Version of a message; that of its target where it stands for another."""
    meta = tx.entity(resource_xid)
    if meta is not None and "xref" in meta.attributes:
        meta = tx.entity(meta.attributes["xref"])
    return tx.entity(f"{meta.xid}/versions/{meta.attributes.get('defaultversionid')}") if meta else None
