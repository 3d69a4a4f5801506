"""Changing the model of a registry that may hold entities already."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import msgspec

from postroom.model.conform import conform
from postroom.model.core_attributes import document_attributes
from postroom.model.includes import expand_includes
from postroom.model.model_refused import ModelRefused
from postroom.model.older_words import read_older_words
from postroom.model.source import parse_model
from postroom.model.types import Attributes, GroupType, Model, ResourceType
from postroom.registry.configuration.capabilities_update import check_version_modes
from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.write import constraints
from postroom.registry.write.merge_attributes import SERVER_NAMES, raise_violations
from postroom.registry.write.resource import ResourceWrite
from postroom.registry.write.unit_of_work import UnitOfWork, operation

LOG = logging.getLogger(__name__)
REGISTRY_MANAGED = ("capabilities", "model", "modelsource", "registryid", "specversion")


@operation
def write_modelsource(work: UnitOfWork, source: Any, with_registry: bool = True) -> None:
    """Replace the model; entities get its defaults, and it is refused when one of them cannot fit.

    `with_registry` is off when the same request goes on to write entities: they are looked at when it settles.
    """
    work.permissions.require_admin("/modelsource")
    if not isinstance(source, dict):
        raise RegistryProblem("model_error", "/model", error_detail="a model must be a JSON object")
    before = work.model
    expanded = _expanded(work, source)
    model = checked_model(expanded)
    _refuse_removals(work, before, model)
    _refuse_reserved(work, before, model)
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
        model = parse_model(source)
    except ModelRefused as error:
        raise _problem(error) from None
    for word in read_older_words(source)[1]:
        LOG.warning("model: %s: %s", word.place, word.sentence)
    return model


def _problem(error: ModelRefused) -> RegistryProblem:
    if error.problem in ("model_error", "parsing_data"):
        return RegistryProblem(error.problem, "/model", pointer=error.place, error_detail=str(error).rstrip("."))
    return RegistryProblem(error.problem, "/model", pointer=error.place, name=error.name)


def _refuse_removals(work: UnitOfWork, before: Model, model: Model) -> None:
    """A type that has entities stays, and every type that stays keeps its singular name (model.md, singular)."""
    for plural, group_type in before.groups.items():
        pointer = f"/groups/{plural}"
        after = model.groups.get(plural)
        groups = work.tx.entities(f"/{plural}")
        _refuse_change(pointer, group_type, after, groups[0].xid if groups else "")
        for name, resource in group_type.resources.items():
            kept = after.resources.get(name) if after else None
            found = next((e.xid for g in groups for e in work.tx.entities(f"{g.xid}/{name}")), "")
            _refuse_change(f"{pointer}/resources/{name}", resource, kept, found)


def _refuse_change(
    pointer: str, before: GroupType | ResourceType, after: GroupType | ResourceType | None, xid: str
) -> None:
    if after is not None and after.singular != before.singular:
        detail = f"{pointer}/singular: a type keeps its singular name, and this one is {before.singular!r}"
    elif after is None and xid:
        detail = f"{pointer} cannot go away while there is {xid}"
    else:
        return
    raise RegistryProblem("model_error", "/model", pointer=pointer, error_detail=detail)


def _refuse_reserved(work: UnitOfWork, before: Model, model: Model) -> None:
    """A type that gets documents takes names for them, and no Version may have attributes of these names by then."""
    for plural, group_type in model.groups.items():
        former = before.groups[plural].resources if plural in before.groups else {}
        for name, resource in group_type.resources.items():
            if not resource.hasdocument or name not in former or former[name].hasdocument:
                continue
            for group in work.tx.entities(f"/{plural}"):
                _refuse_reserved_in(work, f"{group.xid}/{name}", resource)


def _refuse_reserved_in(work: UnitOfWork, collection: str, resource: ResourceType) -> None:
    names = document_attributes(resource.singular)
    for entity in work.tx.entities(collection):
        for version in work.tx.entities(f"{entity.xid}/versions"):
            taken = next((name for name in names if name in version.attributes), None)
            if taken is not None:
                detail = f"{version.xid} has an attribute {taken}, which would be part of its document; remove it first"
                raise RegistryProblem("model_compliance_error", "/model", detail=detail)


def _refit(work: UnitOfWork) -> None:
    model = work.model
    registry = work.tx.entity("/")
    if registry is not None:
        _refit_entity(work, model.attributes, registry, REGISTRY_MANAGED)
    for plural, group_type in model.groups.items():
        for group in work.tx.entities(f"/{plural}"):
            _refit_group(work, group_type, group)


def _refit_group(work: UnitOfWork, group_type: GroupType, group: Entity) -> None:
    fitted = _refit_entity(work, group_type.attributes, group, (group_type.singular + "id",))
    constraints.check_own_constraints(group_type, fitted, group.xid)
    for plural, resource in group_type.resources.items():
        for entity in work.tx.entities(f"{group.xid}/{plural}"):
            path = EntityPath(kind="resource", xid=entity.xid, group_type=group_type, resource_type=resource)
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
