"""The format of a group: one name in the message catalog, an envelope or a protocol in the registry."""

from __future__ import annotations

from typing import Any

from postroom.documents.dialects.messagecatalog import DIALECT
from postroom.documents.dialects.messagecatalog_sections import FORMATS, format_of
from postroom.documents.dialects.protocol_options import family_of
from postroom.protocols.protocol_table import PROTOCOLS, canonical_protocol
from postroom.registry.changes.entity_attachments import attach, attachment
from postroom.registry.entities import Entity
from postroom.registry.transaction_interface import Transaction

Tree = dict[str, Any]

NATIVE = "xRegistry"
"""The format of groups and messages that name neither an envelope nor a protocol."""
_NOTE = "catalogformat"


def canonical_format(given: str) -> str:
    """A format as we write it: the four that the catalog defines in its spelling, any other as it is given."""
    known = format_of({"envelope": given}, {})
    family = family_of(given)
    return family if family in FORMATS else known


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


def selectors(form: str) -> Tree:
    """What a group of a format says in the registry; a name that has no value is to go."""
    nothing: Tree = {"envelope": None, "protocol": None}
    if form == NATIVE:
        return nothing
    if form not in FORMATS and canonical_protocol(form) in {wire.name.upper() for wire in PROTOCOLS}:
        return {**nothing, "protocol": form}
    tree, _ = DIALECT.to_rc4({"messagecatalog": {"group": {"format": form}}})
    return {**nothing, **tree["messagegroups"]["group"]}


def default_version(tx: Transaction, resource_xid: str) -> Entity | None:
    """The default Version of a message; that of its target where it stands for another."""
    meta = tx.entity(resource_xid)
    if meta is not None and "xref" in meta.attributes:
        meta = tx.entity(meta.attributes["xref"])
    return tx.entity(f"{meta.xid}/versions/{meta.attributes.get('defaultversionid')}") if meta else None
