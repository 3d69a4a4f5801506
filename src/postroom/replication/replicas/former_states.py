"""Former states of message definitions, the older versions of the message catalog: read for a copy, written into one.

A registry keeps one Version of a message; the others are its history. A copy goes through the same states in the same
order, so that each version has its number, its URI, its time, its bytes and its content type there, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import msgspec

from postroom.model.conform import conform
from postroom.model.names import is_entity_id
from postroom.model.scalar_types import normal_timestamp
from postroom.registry import operations
from postroom.registry.changes.entity_attachments import has_attachments
from postroom.registry.changes.original_documents import Original, is_content_type, original_of, store_original
from postroom.registry.changes.provenance import (
    AUTHORITY,
    VERSION_URI,
    Provenance,
    accepts_provenance,
    attach_provenance,
)
from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath
from postroom.registry.read.resource_history import load_state, read_states
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.group import ensure_group
from postroom.registry.write.merge_attributes import SERVER_NAMES
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.registry.write.version_drafts import VERSION_MANAGED
from postroom.replication.replicas.replica_unit import TIMES, FormerState, Tree, Unit, unit_xid

_ANY_TYPE = "application/octet-stream"


class PastReader:
    """Reads former states and documents of the messages below an entity; most messages have neither."""

    def __init__(self, tx: Transaction, xid: str) -> None:
        self._tx = tx
        self._xid = xid

    @cached_property
    def _changed(self) -> set[str]:
        """The messages that have a history; read when the first one is asked for, as that of a Group may be long."""
        return {unit_xid(one.xid) for _, one in self._tx.history_below(self._xid)}

    @cached_property
    def _has_documents(self) -> bool:
        return self._xid.startswith("/messagegroups/") and has_attachments(self._tx, self._xid)

    def former(self, xid: str) -> list[Entity]:
        """The states that a message was in, oldest first, without the present one."""
        if xid not in self._changed:
            return []
        return [load_state(self._tx, state).version for state in read_states(self._tx, xid) if state.until]

    def documents(self, versions: Iterable[Entity]) -> dict[str, Original]:
        """The documents of Versions that came with one, by their ids."""
        if not self._has_documents:
            return {}
        found = {one.id: self.document(one) for one in versions}
        return {one: document for one, document in found.items() if document is not None}

    def document(self, version: Entity) -> Original | None:
        """The document of a Version in a present or former state; its id and time follow from the state."""
        found = original_of(self._tx, version) if self._has_documents else None
        return Original(content=found.content, contenttype=found.contenttype) if found else None


class PastWriter:
    """Lets a message go through the states that it was in at the source, each a change of its own."""

    def __init__(self, work: UnitOfWork, path: EntityPath, unit: Unit) -> None:
        self._work = work
        self._tx = work.tx
        self._path = path
        self._unit = unit

    def write(self, present: int) -> None:
        """Write all former states but the first ones, of which the last is present; 0: the message begins anew.

        Afterwards the message is as it was before its newest state, and has the Version that this one is of.
        """
        if not present and self._tx.entity(self._path.xid) is not None:
            operations.delete(self._work, self._path, None, None, "")
            self._work.finish_below(self._path.xid)
        for number, state in enumerate(self._unit.history or (), 1):
            if number > present:
                self._write(number, state)
                self._work.finish_below(self._path.xid)
        newest = next(iter(self._unit.versions))
        meta = self._tx.entity(self._path.xid)
        if meta is not None and meta.attributes.get("defaultversionid") != newest:
            self._move(meta, newest)
            self._work.save(self._version(newest, 1, {}, {"ancestorid": newest}))

    def _write(self, number: int, state: FormerState) -> None:
        xid = self._path.xid
        version_id = state.versionid if is_entity_id(state.versionid) else next(iter(self._unit.versions))
        meta = self._tx.entity(xid)
        if meta is None:
            ensure_group(self._work, self._path)
            self._work.touch(self._path.group_xid)
            now = self._work.now
            attributes = {"readonly": False, "defaultversionsticky": False}
            meta = Entity(xid=xid, epoch=0, createdat=now, modifiedat=now, attributes=attributes)
        self._move(meta, version_id)
        before = self._tx.entity(f"{xid}/versions/{version_id}")
        epoch = max(number, before.epoch + 1 if before else 1)
        self._work.save(self._version(version_id, epoch, state.body, self._attributes(version_id, state)))
        self._keep_beside(f"{xid}/versions/{version_id}", state)

    def _move(self, meta: Entity, version_id: str) -> None:
        """Make a Version the only one, in the place of the one that was."""
        before = meta.attributes.get("defaultversionid")
        if before == version_id:
            return
        if before is not None:
            self._work.remove(f"{meta.xid}/versions/{before}")
        attributes = {**meta.attributes, "defaultversionid": version_id}
        self._work.save(msgspec.structs.replace(meta, epoch=meta.epoch + 1, attributes=attributes))

    def _version(self, version_id: str, epoch: int, body: Tree, attributes: Tree) -> Entity:
        created, modified = (normal_timestamp(time) if isinstance(time := body.get(n), str) else None for n in TIMES)
        return Entity(
            xid=f"{self._path.xid}/versions/{version_id}",
            epoch=epoch,
            createdat=created or self._work.now,
            modifiedat=modified or self._work.now,
            attributes=attributes,
        )

    def _attributes(self, version_id: str, state: FormerState) -> Tree:
        """What a state says, as far as the model allows it: it is the past, and what is refused of it is not missed."""
        resource_type = self._path.resource
        apart = {*SERVER_NAMES, *VERSION_MANAGED, *TIMES, resource_type.singular + "id"}
        known = {name: one for name, one in resource_type.attributes.items() if name not in apart and not one.readonly}
        plain = {name: value for name, value in state.body.items() if name not in apart}
        normal, violations = conform(self._work.model, known, plain)
        provenance = {AUTHORITY: self._unit.entry.authority, VERSION_URI: state.uri} if self._has_room else {}
        given = {name: value for name, value in provenance.items() if value}
        return {**given, **({} if violations else normal), "ancestorid": version_id}

    def _keep_beside(self, xid: str, state: FormerState) -> None:
        entity = self._tx.entity(xid)
        if entity is None:
            return
        if not self._has_room:
            attach_provenance(self._tx, entity, Provenance(self._unit.entry.authority, state.uri))
        if state.document is not None:
            keep_document(self._tx, entity, state.document, state.uri)

    @property
    def _has_room(self) -> bool:
        return accepts_provenance(self._path.resource)


def keep_document(tx: Transaction, version: Entity, document: Original, uri: str) -> None:
    """Keep the document that a Version of a copy came with; its id is the URI that it has everywhere (S002 2.2.5)."""
    kind = document.contenttype if is_content_type(document.contenttype) else _ANY_TYPE
    store_original(tx, version, Original(content=document.content, contenttype=kind, id=uri))
