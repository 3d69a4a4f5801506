"""Numbering in the transaction of a write: what a Version is given as it is saved, and what goes with it."""

from __future__ import annotations

import msgspec

from postroom.model.schema_content import METADATA, RULES, stated_references
from postroom.model.types import Model
from postroom.registry.entities import Entity
from postroom.registry.numbering.schema_ids import (
    GUID,
    SCHEMA_IDS,
    SchemaIds,
    SchemaUse,
    content_digest,
    delete_reference,
    put_reference,
    stated_ids,
)
from postroom.registry.numbering.version_numbers import (
    NUMBER,
    choose_number,
    forget_all_below,
    keeps_any,
    kept_versions,
    number_of,
)
from postroom.registry.transaction_interface import Transaction

GROUPS, SCHEMAS = "schemagroups", "schemas"
_IN_GROUPS = f"/{GROUPS}/"
_SAID = ("format", "references", METADATA, RULES, SCHEMA_IDS, GUID, NUMBER)
ORIGIN = "origin"
"""The kind of the records that say which Groups and Resources are replicas."""


class SchemaNumbering:
    """Gives numbers to the schemas that one unit of work writes."""

    def __init__(self, tx: Transaction, *, replicates: bool) -> None:
        self._tx = tx
        self._replicates = replicates
        self._known: dict[str, SchemaIds] = {}
        self._gives: dict[str, bool] = {}
        self._keeps: dict[str, bool] = {}
        self._taken: dict[str, dict[str, int]] = {}

    def numbered(self, version: Entity, before: Entity | None, *, is_new_resource: bool) -> Entity:
        """A Version of a schema as it is saved, with its ids and, where its own id does not say it, its number."""
        if not has_room(self._tx.model()):
            return version
        if before is not None and before.document == version.document and _said(before) == _said(version):
            return version
        content = content_digest(self._tx.rules, version)
        if not content:
            self._index(None, before)
            return version
        attributes = {name: value for name, value in version.attributes.items() if name != SCHEMA_IDS}
        ids = self._ids(version, before, content)
        if ids:
            attributes[SCHEMA_IDS] = ids
        if not self._replicates:
            number = self._number(version, before, is_new_resource)
            if number is not None:
                attributes[NUMBER] = number
        version = msgspec.structs.replace(version, attributes=attributes)
        self._index(version, before)
        return version

    def deleted(self, xid: str, before: Entity | None) -> None:
        """Note that an entity is deleted, by whatever API."""
        if not xid.startswith(f"/{GROUPS}/"):
            return
        if before is not None and is_schema_version(xid):
            self._index(None, before)
            self._taken.pop(_resource(xid), None)
        elif xid.count("/") in (2, 4):
            forget_all_below(self._tx, xid)

    def _ids_in(self, group: str) -> SchemaIds:
        if group not in self._known:
            self._known[group] = SchemaIds(self._tx, group)
        return self._known[group]

    def _ids(self, version: Entity, before: Entity | None, content: str) -> list[int]:
        use, group = _use(version.xid)
        known, former = self._ids_in(group), set(stated_ids(before))
        # What came along with a new document, or from another Version of the schema, means those, if we gave it.
        ids = [one for one in stated_ids(version) if not _came_along(known, one, content, use, former)]
        for schema_id in ids:
            known.claim(schema_id, content, use, had=schema_id in former)
        if not ids and self._gives_in(group):
            ids = [known.give(content)]
        guid = version.attributes.get(GUID)
        if isinstance(guid, str) and ids:
            known.claim_guid(guid, ids[0], use)
        return ids

    def _number(self, version: Entity, before: Entity | None, is_new_resource: bool) -> int | None:
        stated = version.attributes.get(NUMBER)
        if before is not None and stated in (None, before.attributes.get(NUMBER)):
            return before.attributes.get(NUMBER)
        taken = self._taken_numbers(version, is_new_resource)
        number = choose_number(version, {one for xid, one in taken.items() if xid != version.xid})
        taken[version.xid] = number or number_of(version)
        return number

    def _taken_numbers(self, version: Entity, is_new_resource: bool) -> dict[str, int]:
        resource, group = _resource(version.xid), version.xid.split("/")[2]
        if resource not in self._taken:
            stored = [] if is_new_resource else self._tx.entities(version.collection)
            if group not in self._keeps:
                self._keeps[group] = keeps_any(self._tx, group)
            kept = kept_versions(self._tx, resource) if self._keeps[group] else []
            deleted = {f"{resource}#{one.number}": one.number for one in kept}
            self._taken[resource] = {one.xid: number_of(one) for one in stored} | deleted
        return self._taken[resource]

    def _gives_in(self, group: str) -> bool:
        if group not in self._gives:
            self._gives[group] = not self._replicates and not is_replica(self._tx, f"/{GROUPS}/{group}")
        return self._gives[group]

    def _index(self, version: Entity | None, before: Entity | None) -> None:
        entity = version or before
        if entity is None:
            return
        use, group = _use(entity.xid)
        now = stated_ids(version)
        for schema_id in stated_ids(before):
            if schema_id not in now:
                self._ids_in(group).release(schema_id, use)
        for schema_id in now:
            self._ids_in(group).use(schema_id, use)
        targets, former = _targets(version), _targets(before)
        for target in former - targets:
            delete_reference(self._tx, target, entity.xid)
        for target in targets - former:
            put_reference(self._tx, target, entity.xid)


def is_schema_version(xid: str) -> bool:
    """Whether an xid is that of a Version of a schema."""
    return xid.startswith(_IN_GROUPS) and xid.count("/") == 6 and xid.split("/")[3] == SCHEMAS


def has_room(model: Model) -> bool:
    """Whether the model has schemas whose Versions can say which ids they have."""
    group_type = model.groups.get(GROUPS)
    kind = group_type.resources.get(SCHEMAS) if group_type is not None else None
    if kind is None or not kind.hasdocument:
        return False
    return "*" in kind.attributes or all(name in kind.attributes for name in (SCHEMA_IDS, NUMBER))


def is_replica(tx: Transaction, xid: str) -> bool:
    """Whether a Group or a Resource was brought by a link and is here."""
    found = tx.record(ORIGIN, xid)
    return found is not None and not msgspec.json.decode(found).get("deleted", False)


def _said(version: Entity) -> list[object]:
    return [version.attributes.get(name) for name in _SAID]


def _came_along(known: SchemaIds, schema_id: int, content: str, use: SchemaUse, former: set[int]) -> bool:
    meant = known.meaning(schema_id)
    if meant is None or not meant.is_given or meant.content == content:
        return False
    return schema_id in former or any(one.resource == use.resource for one in known.uses(schema_id))


def _resource(xid: str) -> str:
    return xid.rpartition("/versions/")[0]


def _use(xid: str) -> tuple[SchemaUse, str]:
    _, _, group, _, resource, _, version_id = xid.split("/")
    return SchemaUse(resource, version_id), group


def _targets(version: Entity | None) -> set[str]:
    return set() if version is None else {xid for _, xid in stated_references(version.attributes)}
