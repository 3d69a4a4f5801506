"""The `inline` flag: which collections, metas and documents an answer shows in full."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

import msgspec

from postroom.model.types import GroupType, Model, ResourceType
from postroom.registry.paths import Place
from postroom.registry.problems import RegistryProblem

CONFIGURATION = ("capabilities", "model", "modelsource")
_PATH = re.compile(r"\w+(\.\w+)*\Z")


class Inline(msgspec.Struct, frozen=True):
    """What to show below one level: everything, or some names with what to show below each."""

    everything: bool = False
    names: dict[str, Inline] = {}

    def below(self, name: str) -> Inline | None:
        """What to show below a member; None when the member itself is not shown."""
        return ALL if self.everything else self.names.get(name)

    def shows(self, name: str) -> bool:
        """Whether a member is shown; configuration of the Registry only when it is named."""
        if name in CONFIGURATION:
            return name in self.names
        return self.everything or name in self.names


ALL = Inline(everything=True)
NOTHING = Inline()


def parse_inline(model: Model, place: Place, values: Iterable[str]) -> Inline:
    """The tree of a flag's values, checked against what the model has below the place."""
    wanted = Names()
    for value in values:
        for path in value.split(","):
            _add(wanted, model, place, path.strip() or "*")
    return _frozen(wanted)


class Names(dict[str, "Names"]):
    """Names below names: what was asked for, or what could be."""


def _frozen(wanted: Names) -> Inline:
    names = {name: _frozen(below) for name, below in wanted.items() if name != "*"}
    return Inline(everything="*" in wanted, names=names)


def _add(wanted: Names, model: Model, place: Place, path: str) -> None:
    choices = _choices(model, place)
    parts = path.split(".")
    for position, part in enumerate(parts):
        is_last = position == len(parts) - 1
        if part == "*" and is_last:
            wanted["*"] = Names()
            return
        if part not in choices:
            _refuse(place, part, path)
        wanted, choices = wanted.setdefault(part, Names()), choices[part]


def _refuse(place: Place, part: str, path: str) -> NoReturn:
    """C-47: what is no path is `bad_inline`; a path to something that cannot be inlined says so."""
    if "*" in path or not _PATH.match(path):
        detail = "a path is made of names with dots between them; * may be the last"
        raise RegistryProblem("bad_inline", place.xid, value=path, error_detail=detail)
    detail = f"There is no {part!r} to inline."
    raise RegistryProblem("inline_noninlineable", place.xid, name=path, detail=detail)


def _choices(model: Model, place: Place) -> Names:
    if place.kind == "registry":
        configuration = {name: Names() for name in CONFIGURATION}
        return Names({**{plural: _below_group(kind) for plural, kind in model.groups.items()}, **configuration})
    if place.kind in ("groups", "group"):
        return _below_group(place.group)
    if place.kind in ("resources", "resource"):
        return _below_resource(place.resource)
    return _document(place.resource) if place.kind in ("versions", "version") else Names()


def _below_group(kind: GroupType) -> Names:
    return Names({plural: _below_resource(resource) for plural, resource in kind.resources.items()})


def _below_resource(kind: ResourceType) -> Names:
    return Names({**_document(kind), "versions": _document(kind), "meta": Names()})


def _document(kind: ResourceType) -> Names:
    return Names({kind.singular: Names()}) if kind.hasdocument else Names()
