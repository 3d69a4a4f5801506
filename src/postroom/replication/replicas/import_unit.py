"""Importing a unit into a registry: checked, with the times of its home and the URIs of its Versions."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.model.scalar_types import normal_timestamp
from postroom.model.types import Model, ResourceType
from postroom.registry import operations
from postroom.registry.changes.provenance import AUTHORITY, VERSION_URI, accepts_provenance, version_uri
from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath, resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.replication.replicas.former_states import PastWriter
from postroom.replication.replicas.identity import plain_path
from postroom.replication.replicas.replica_unit import TIMES, Tree, Unit, has_states


def check_place(model: Model, xid: str) -> EntityPath:
    """The path of a unit; refused when it is none, or none that the model knows."""
    path = resolve(model, xid)
    if path.kind not in ("group", "resource") or xid.endswith("/"):
        raise RegistryProblem("bad_request", xid, error_detail="only groups and resources are copied")
    return path


def check_body(unit: Unit, path: EntityPath) -> None:
    """Refuse a unit that does not have the parts of one; the registry looks at what is in them."""
    if unit.is_group and any(name in unit.body for name in path.group.resources):
        raise RegistryProblem("bad_request", unit.xid, error_detail="a group is copied without what is in it")
    if not unit.is_whole:
        raise RegistryProblem("bad_request", unit.xid, error_detail="a copy has a meta, and versions or an xref")


class ImportUnitOfWork(UnitOfWork):
    """A unit of work whose entities keep the times they have at their home, also where a write would renew them."""

    replicates = True

    def __init__(self, tx: Transaction, actor: str) -> None:
        super().__init__(tx, actor=actor)
        self.checks_epochs = False  # epochs count changes of one registry
        self._times: dict[str, tuple[Any, Any]] = {}

    def keep_times(self, xid: str, body: Tree) -> None:
        """Note the times of an entity that will be written."""
        created, modified = (normal_timestamp(value) if isinstance(value := body.get(n), str) else None for n in TIMES)
        if created and modified:
            self._times[xid] = created, modified

    def _put(self, entity: Entity) -> None:
        if entity.xid in self._times:
            created, modified = self._times[entity.xid]
            entity = msgspec.structs.replace(entity, createdat=created, modifiedat=modified)
        super()._put(entity)


def write_unit(work: ImportUnitOfWork, model: Model, unit: Unit, present: int = 0) -> None:
    """Make a unit what it is at the source; so many of the states that it was in there are here already."""
    path = resolve(model, unit.xid)
    work.keep_times(unit.xid, unit.body if unit.is_group else unit.body["meta"])
    if unit.history is not None and unit.versions and has_states(path.group.plural, path.resource):
        if present > len(unit.history):
            operations.put_meta(work, path, dict(unit.body["meta"]), patch=False)
            return
        PastWriter(work, path, unit).write(present)
    for version_id, version in unit.versions.items():
        work.keep_times(f"{unit.xid}/versions/{version_id}", version)
    if unit.is_group:
        operations.put_group(work, path, dict(unit.body), patch=False)
        return
    body = with_provenance(unit, path.resource)
    if _lacks_versions(work.tx, path, body):
        # A write never takes Versions away; taken away and written anew, it is still one change of one entity.
        operations.delete(work, path, None, None, "")
    operations.put_resource(work, path, body, patch=False, default="")


def _lacks_versions(tx: Transaction, path: EntityPath, body: Tree) -> bool:
    if "xref" in body["meta"]:
        return False
    return any(one.id not in body["versions"] for one in tx.entities(f"{path.xid}/versions"))


def with_provenance(unit: Unit, resource_type: ResourceType) -> Tree:
    """A Resource as it is written: its Versions say whose they are, if the model has room for that."""
    return with_versions_named(unit) if accepts_provenance(resource_type) else unit.body


def with_versions_named(unit: Unit) -> Tree:
    """A Resource whose Versions have their authority and their absolute URI (S002 2.2.4, 2.2.5)."""
    if not unit.versions:
        return unit.body
    versions = {
        one: {AUTHORITY: unit.entry.authority, VERSION_URI: uri_of(unit, one), **version}
        for one, version in unit.versions.items()
    }
    return {**unit.body, "versions": versions}


def uri_of(unit: Unit, version_id: str) -> str:
    """What a Version is called in every catalog that has a copy of it."""
    path = plain_path(unit.entry.path or unit.xid, version_id)
    return unit.uris.get(version_id) or version_uri(unit.entry.authority, path)
