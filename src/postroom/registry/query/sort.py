"""The `sort` flag: the order of a collection by one attribute, ties by id in the same direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec

from postroom.model.types import Attributes
from postroom.registry.paths import Place
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.compare_values import Key, order_key
from postroom.registry.query.dot_notation import BadPath, Path, parse_path, values_at

DIRECTIONS = {"asc": False, "desc": True}
NOT_SCALAR = ("array", "map", "object")


class Sort(msgspec.Struct, frozen=True):
    """An order: the attribute (none: the id alone) and its direction."""

    path: Path = ()
    descending: bool = False

    def value(self, document: Mapping[str, Any]) -> Any:
        """The value that an entity is sorted by; None when it is missing or no scalar."""
        found = next(values_at(document, self.path), None) if self.path else None
        return found if isinstance(found, str | int | float | bool) else None


BY_ID = Sort()


def sort_key(value: Any, entity_id: str) -> Key:
    """The sort key of an entity (FLAG-063)."""
    return (order_key(value), entity_id.casefold(), entity_id)


def parse_sort(place: Place, text: str | None, subject: str) -> Sort | None:
    """Parse the flag; None when the request does not have it."""
    if text is None:
        return None
    if not place.is_collection:
        raise RegistryProblem("sort_noncollection", subject)
    written, separator, direction = text.rpartition("=")
    if not separator:
        written, direction = text, "asc"
    if direction not in DIRECTIONS:
        _refuse(text, "the order is asc or desc", subject)
    try:
        path = parse_path(written)
    except BadPath as error:
        _refuse(text, str(error), subject)
    _check_scalar(place, path, text, subject)
    return Sort(() if path == (_id_name(place),) else path, DIRECTIONS[direction])


def _id_name(place: Place) -> str:
    if place.kind == "versions":
        return "versionid"
    return (place.group if place.kind == "groups" else place.resource).singular + "id"


def _check_scalar(place: Place, path: Path, text: str, subject: str) -> None:
    """Refuse paths into nested collections, and attributes that are no scalars (FLAG-062)."""
    nested = place.group.resources if place.kind == "groups" else {"versions"} if place.kind == "resources" else ()
    if path[0] in nested:
        _refuse(text, "it leads into another collection", subject)
    attribute = _attributes(place).get(str(path[0]))
    if len(path) == 1 and attribute is not None and attribute.type in NOT_SCALAR:
        _refuse(text, f"{path[0]} is no scalar", subject)


def _attributes(place: Place) -> Attributes:
    if place.kind == "groups":
        return place.group.attributes
    above = place.resource.resourceattributes if place.kind == "resources" else {}
    return {**above, **place.resource.attributes}


def _refuse(text: str, detail: str, subject: str) -> NoReturn:
    raise RegistryProblem("bad_sort", subject, value=text[:200], error_detail=detail)
