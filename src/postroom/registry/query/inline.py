"""The `inline` flag: which collections, metas and documents a response includes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

import msgspec

from postroom.model.types import GroupType, Model, ResourceType
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem

CONFIGURATION = ("capabilities", "model", "modelsource")
_PATH = re.compile(r"\w+(\.\w+)*(\.\*)?\Z")


class Inline(msgspec.Struct, frozen=True):
    """What to include below one level: everything, or some names with what to include below each."""

    everything: bool = False
    names: dict[str, Inline] = {}

    def below(self, name: str) -> Inline | None:
        """What to include below a member; None when the member itself is not included."""
        return ALL if self.everything else self.names.get(name)

    def shows(self, name: str) -> bool:
        """Whether a member is included; capabilities and models of the Registry only when they are named."""
        if name in CONFIGURATION:
            return name in self.names
        return self.everything or name in self.names


ALL = Inline(everything=True)
NOTHING = Inline()


def parse_inline(model: Model, entity_path: EntityPath, values: Iterable[str]) -> Inline:
    """Parse the values of the flag, checked against what the model has below the target."""
    wanted = NameTree()
    for value in values:
        for path in [path for part in value.split(",") if (path := part.strip())] or ["*"]:
            _add(wanted, model, entity_path, path)
    return _frozen(wanted)


class NameTree(dict[str, "NameTree"]):
    """Names of members, each with those below it."""


def _frozen(wanted: NameTree) -> Inline:
    names = {name: _frozen(below) for name, below in wanted.items() if name != "*"}
    return Inline(everything="*" in wanted, names=names)


def _add(wanted: NameTree, model: Model, entity_path: EntityPath, path: str) -> None:
    choices = _choices(model, entity_path)
    *above, last = path.split(".")
    for part in above:
        below = choices.get(part)
        if below is None:
            _refuse(entity_path, part, path)
        wanted, choices = wanted.setdefault(part, NameTree()), below
    if last != "*" and last not in choices:
        _refuse(entity_path, last, path)
    wanted.setdefault(last, NameTree())


def _refuse(entity_path: EntityPath, part: str, path: str) -> NoReturn:
    """C-47: what is no path is `bad_inline`; a path to something that cannot be inlined says so."""
    if not _PATH.match(path):
        detail = "a path is made of names with dots between them; * may be the last"
        raise RegistryProblem("bad_inline", entity_path.xid, value=path, error_detail=detail)
    detail = f"There is no {part!r} to inline."
    raise RegistryProblem("inline_noninlineable", entity_path.xid, name=path, detail=detail)


class Choices(dict[str, "Choices | None"]):
    """What can be inlined: collections with what is below them, and None for what has nothing below it."""


def _choices(model: Model, path: EntityPath) -> Choices:
    if path.kind == "registry":
        collections = {plural: _below_group(group_type) for plural, group_type in model.groups.items()}
        return Choices({**collections, **dict.fromkeys(CONFIGURATION)})
    if path.kind in ("groups", "group"):
        return _below_group(path.group)
    if path.kind in ("resources", "resource"):
        return _below_resource(path.resource)
    return _document(path.resource) if path.kind in ("versions", "version") else Choices()


def _below_group(group_type: GroupType) -> Choices:
    return Choices({plural: _below_resource(resource) for plural, resource in group_type.resources.items()})


def _below_resource(resource_type: ResourceType) -> Choices:
    return Choices({**_document(resource_type), "versions": _document(resource_type), "meta": None})


def _document(resource_type: ResourceType) -> Choices:
    return Choices({resource_type.singular: None} if resource_type.hasdocument else {})
