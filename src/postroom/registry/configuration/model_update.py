"""Changing the model of a registry that may hold entities already."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from postroom.model.conform import conform
from postroom.model.includes import expand_includes
from postroom.model.model_refused import ModelRefused
from postroom.model.source import parse_model
from postroom.model.types import Attributes, GroupType, Model
from postroom.registry.configuration.capabilities_update import check_version_modes
from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.write import constraints
from postroom.registry.write.merge_attributes import SERVER_NAMES, raise_violations
from postroom.registry.write.resource import ResourceWrite
from postroom.registry.write.unit_of_work import UnitOfWork, operation

REGISTRY_MANAGED = ("capabilities", "model", "modelsource", "registryid", "specversion")


@operation
def write_modelsource(work: UnitOfWork, source: Any, with_registry: bool = True) -> None:
    """Replace the model; entities get its defaults, and it is refused when one of them cannot fit.

    `with_registry` is off when the same request goes on to write entities: they are looked at when it settles.
    """
    if not isinstance(source, dict):
        raise RegistryProblem("model_error", "/model", error_detail="a model must be a JSON object")
    before = work.model
    expanded = _expanded(work, source)
    model = checked_model(expanded)
    _refuse_removals(work, before, model)
    former = work.tx.modelsource()
    if source != former:
        work.note("/modelsource", before=former)
    if model != before:
        work.note("/model")
    work.tx.put_modelsource(source, expanded)
    work.at_end("version modes", partial(check_version_modes, work, "model_error", "/model"))
    work.at_end("the model", partial(_refit, work))
    if with_registry:
        work.touch("/")


def _expanded(work: UnitOfWork, source: dict[str, Any]) -> dict[str, Any]:
    try:
        return expand_includes(source, work.fetch)
    except ModelRefused as error:
        raise _problem(error) from None


def checked_model(source: dict[str, Any]) -> Model:
    """The full model of a source; a broken rule becomes the problem that the specification names for it."""
    try:
        return parse_model(source)
    except ModelRefused as error:
        raise _problem(error) from None


def _problem(error: ModelRefused) -> RegistryProblem:
    if error.problem == "model_error":
        return RegistryProblem("model_error", "/model", pointer=error.place, error_detail=str(error).rstrip("."))
    return RegistryProblem(error.problem, "/model", pointer=error.place, name=error.name)


def _refuse_removals(work: UnitOfWork, before: Model, model: Model) -> None:
    """A type that has entities stays, under the names it has (model.md: plural and singular never change)."""
    for plural, kind in before.groups.items():
        groups = work.tx.entities(f"/{plural}")
        after = model.groups.get(plural)
        if groups and (after is None or after.singular != kind.singular):
            _refuse_removal(f"/groups/{plural}", groups[0].xid)
        for name, resource in kind.resources.items():
            kept = after.resources.get(name) if after else None
            if kept is not None and kept.singular == resource.singular:
                continue
            found = next((e for g in groups for e in work.tx.entities(f"{g.xid}/{name}")), None)
            if found is not None:
                _refuse_removal(f"/groups/{plural}/resources/{name}", found.xid)


def _refuse_removal(pointer: str, xid: str) -> None:
    detail = f"{pointer} cannot go away or change its singular name while there is {xid}"
    raise RegistryProblem("model_error", "/model", pointer=pointer, error_detail=detail)


def _refit(work: UnitOfWork) -> None:
    model = work.model
    registry = work.tx.entity("/")
    if registry is not None:
        _refit_entity(work, model.attributes, registry, REGISTRY_MANAGED)
    for plural, kind in model.groups.items():
        for group in work.tx.entities(f"/{plural}"):
            _refit_group(work, kind, group)


def _refit_group(work: UnitOfWork, kind: GroupType, group: Entity) -> None:
    fitted = _refit_entity(work, kind.attributes, group, (kind.singular + "id",))
    constraints.check_own_constraints(kind, fitted, group.xid)
    for plural, resource in kind.resources.items():
        for entity in work.tx.entities(f"{group.xid}/{plural}"):
            path = EntityPath(kind="resource", xid=entity.xid, group_type=kind, resource_type=resource)
            ResourceWrite(work, path, patch=True).refit()
    constraints.watch_group(work, group.xid)


def _refit_entity(work: UnitOfWork, attributes: Attributes, entity: Entity, managed: tuple[str, ...]) -> dict[str, Any]:
    """The attributes of the Registry or a Group under the new model; saved when a default came in."""
    out = {n for n, a in attributes.items() if a.readonly} | SERVER_NAMES | set(managed)
    known = {name: attribute for name, attribute in attributes.items() if name not in out}
    before = {name: value for name, value in entity.attributes.items() if name not in out}
    fitted, violations = conform(work.model, known, before)
    raise_violations(violations, entity.xid)
    if fitted != before:
        kept = {name: value for name, value in entity.attributes.items() if name in out}
        epoch = work.epoch_after(entity.xid, entity)
        changed = msgspec.structs.replace(entity, attributes={**fitted, **kept}, epoch=epoch, modifiedat=work.now)
        work.save(changed)
    return fitted
