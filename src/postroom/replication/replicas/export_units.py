"""Exporting units from a transaction of the registry."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator

from postroom.model.types import Model
from postroom.registry.entities import Document, Entity
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.document_checks import MARKS
from postroom.replication.replicas import replica_unit
from postroom.replication.replicas.former_states import PastReader
from postroom.replication.replicas.origins import UnitOrigin, origin_of, origins_in
from postroom.replication.replicas.replica_unit import FormerState, ResourceShape, Tree, Unit, UnitEntry

_OF_THE_SERVER = ("readonly", *MARKS)


def registry_id(tx: Transaction) -> str:
    """What this registry is called wherever its units are."""
    registry = tx.entity("/")
    return str(registry.attributes["registryid"]) if registry else ""


def group_xids(tx: Transaction, model: Model) -> Iterator[str]:
    """The Groups of all types."""
    for plural in model.groups:
        yield from (entity.xid for entity in tx.entities(f"/{plural}"))


class UnitReader:
    """Reads units in one transaction that does not change the model."""

    def __init__(self, tx: Transaction, *, history: bool = True) -> None:
        self._tx = tx
        self._shapes = replica_unit.shapes_of(tx.model())
        self._home = registry_id(tx)
        self._reads_history = history

    def group(self, xid: str) -> Iterator[Unit]:
        """A Group and everything in it."""
        origins = origins_in(self._tx, xid)
        past = PastReader(self._tx, xid)
        for unit, entities in _entities_by_unit(self._tx, xid).items():
            yield self._unit(unit, entities, origins.get(unit), past)

    def unit(self, xid: str) -> Unit | None:
        """One unit; None when it is not there."""
        own = self._tx.entity(xid) if xid.count("/") in (2, 4) else None
        if own is None or xid.split("/")[1] not in self._shapes:
            return None
        entities = [own] if xid.count("/") == 2 else [own, *self._tx.entities(f"{xid}/versions")]
        return self._unit(xid, entities, origin_of(self._tx, xid), PastReader(self._tx, xid))

    def _unit(self, xid: str, entities: Iterable[Entity], origin: UnitOrigin | None, past: PastReader) -> Unit:
        own, *versions = entities
        shape = self._shape(xid)
        body = _attributes(own) if shape is None else _resource(own, versions, shape)
        if origin is not None and origin.implied and not origin.deleted and shape is not None:
            body = _without(body, origin.implied)
        history = self._former(xid, shape, past) if versions else None
        documents = past.documents(versions) if self._reads_history else {}
        digest = replica_unit.digest_of(body, shape, history, documents)
        if origin is None or origin.deleted:
            entry = UnitEntry(
                digest=digest,
                stamp=replica_unit.Stamp(0, replica_unit.newest_time(body, shape)),
                home=self._home,
                authority=authority_in(body, shape),
            )
        else:
            entry = imported_entry(digest, origin)
        return Unit(xid=xid, body=body, entry=entry, history=history, documents=documents)

    def _former(self, xid: str, shape: ResourceShape | None, past: PastReader) -> tuple[FormerState, ...] | None:
        if shape is None or not shape.has_states or not self._reads_history:
            return None
        return tuple(
            FormerState(versionid=one.id, body=_attributes(one), document=past.document(one))
            for one in past.former(xid)
        )

    def _shape(self, xid: str) -> ResourceShape | None:
        parts = xid.split("/")
        return self._shapes[parts[1]].resources[parts[3]] if len(parts) > 3 else None


def _entities_by_unit(tx: Transaction, group: str) -> dict[str, list[Entity]]:
    """The entities of each unit, the unit's own one first."""
    own = tx.entity(group)
    found: dict[str, list[Entity]] = defaultdict(list)
    if own is None:
        return found
    found[group].append(own)
    for entity in sorted(tx.below(group), key=lambda one: one.xid):
        found["/".join(entity.xid.split("/")[:5])].append(entity)
    return found


def imported_entry(digest: str, origin: UnitOrigin) -> UnitEntry:
    """The entry of a unit that came from elsewhere."""
    return UnitEntry(
        digest=digest,
        stamp=origin.stamp,
        home=origin.home,
        authority=origin.authority,
        path=origin.path,
        imported=True,
        link=origin.link,
        taken=origin.digest if digest == origin.local else "",
    )


def _resource(meta: Entity, versions: list[Entity], shape: ResourceShape) -> Tree:
    if "xref" in meta.attributes:
        return {"meta": {"xref": meta.attributes["xref"]}}
    return {"meta": _attributes(meta), "versions": {one.id: _version(one, shape) for one in versions}}


def _version(entity: Entity, shape: ResourceShape) -> Tree:
    version = _attributes(entity)
    return version | _document(entity.document, shape) if entity.document is not None else version


def _document(document: Document, shape: ResourceShape) -> Tree:
    """The document with all its bytes: JSON would not keep how it was laid out."""
    if document.url:
        return {shape.singular + "url": document.url}
    if document.text:
        return {shape.singular: document.content.decode()}
    return {shape.singular + "base64": base64.b64encode(document.content).decode()}


def _attributes(entity: Entity) -> Tree:
    attributes = {name: value for name, value in entity.attributes.items() if name not in _OF_THE_SERVER}
    return {**attributes, "createdat": entity.createdat, "modifiedat": entity.modifiedat}


def authority_in(body: Tree, shape: ResourceShape | None) -> str:
    """The authority that a unit names itself."""
    holder = body if shape is None else (body.get("versions") or {}).get(body["meta"].get("defaultversionid")) or {}
    named = holder.get("authority")
    return named if isinstance(named, str) else ""


def _without(body: Tree, implied: tuple[str, ...]) -> Tree:
    """A Resource as its home has it."""
    if "versions" not in body:
        return body
    versions = {
        one: {name: value for name, value in version.items() if name not in implied}
        for one, version in body["versions"].items()
    }
    return {**body, "versions": versions}
