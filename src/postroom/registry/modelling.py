"""Changing the model of a registry that may hold entities already."""

from __future__ import annotations

from typing import Any

from postroom.model.conform import Violation, conform
from postroom.model.includes import expand_includes
from postroom.model.refusal import ModelRefused
from postroom.model.source import parse_model
from postroom.model.types import Attributes, Model
from postroom.registry.composing import SERVER_NAMES, raise_violations
from postroom.registry.entities import Entity
from postroom.registry.interaction import Interaction
from postroom.registry.problems import RegistryProblem


def write_modelsource(interaction: Interaction, source: Any, with_registry: bool = True) -> None:
    """Replace the model; refused when stored entities would not fit it.

    `with_registry` is off when the same request writes the Registry entity, which is then checked as it will be.
    """
    if not isinstance(source, dict):
        raise RegistryProblem("model_error", "/model", error_detail="a model must be a JSON object")
    before = interaction.model
    expanded = _expanded(interaction, source)
    model = checked_model(expanded)
    interaction.tx.put_modelsource(source, expanded)
    _check_groups(interaction, before, model)
    if with_registry:
        _check_registry(interaction, model)
        interaction.touch("/")


def _expanded(interaction: Interaction, source: dict[str, Any]) -> dict[str, Any]:
    try:
        return expand_includes(source, interaction.fetch)
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


def _check_groups(interaction: Interaction, before: Model, model: Model) -> None:
    for plural, kind in before.groups.items():
        for group in interaction.tx.entities(f"/{plural}"):
            _check_group(interaction, model, plural, kind.resources, group)


def _check_registry(interaction: Interaction, model: Model) -> None:
    registry = interaction.tx.entity("/")
    if registry is not None:
        own = {n: v for n, v in registry.attributes.items() if n not in ("registryid", "capabilities")}
        left_out = ("capabilities", "model", "modelsource", "registryid")
        _check(model, model.attributes, own, "/", left_out)


def _check_group(interaction: Interaction, model: Model, plural: str, resources: Any, group: Entity) -> None:
    kind = model.groups.get(plural)
    if kind is None:
        raise RegistryProblem("model_compliance_error", "/model", detail=f"{group.xid} is of a type that goes away.")
    _check(model, kind.attributes, group.attributes, group.xid, (kind.singular + "id",))
    for name in resources:
        for resource in interaction.tx.entities(f"{group.xid}/{name}"):
            _check_resource(interaction, model, kind.resources.get(name), resource)


def _check_resource(interaction: Interaction, model: Model, kind: Any, resource: Entity) -> None:
    if kind is None:
        raise RegistryProblem("model_compliance_error", "/model", detail=f"{resource.xid} is of a type that goes away.")
    left_out = (kind.singular + "id", "defaultversionid", "defaultversionsticky")
    if "xref" not in resource.attributes:
        _check(model, kind.metaattributes, resource.attributes, f"{resource.xid}/meta", left_out)
    inline = (kind.singular + "id", "versionid", "isdefault")
    for version in interaction.tx.entities(f"{resource.xid}/versions"):
        if version.document is not None and (version.document.content or version.document.url) and not kind.hasdocument:
            raise RegistryProblem("hasdocument_violation", version.xid, plural=kind.plural)
        _check(model, kind.attributes, version.attributes, version.xid, inline)


def _check(model: Model, attributes: Attributes, value: dict[str, Any], xid: str, left_out: tuple[str, ...]) -> None:
    known = {n: a for n, a in attributes.items() if n not in SERVER_NAMES and n not in left_out and not a.readonly}
    mutable = {n: v for n, v in value.items() if n not in attributes or not attributes[n].readonly}
    mutable = {n: v for n, v in mutable.items() if n not in left_out}
    violations: list[Violation] = conform(model, known, mutable)[1]
    raise_violations(violations, xid)
