"""The `sort` flag: the order of a collection by one attribute, ties by id in the same direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec

from postroom.model.types import Attributes
from postroom.registry.paths import EntityPath
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


def parse_sort(collection: EntityPath, text: str | None, subject: str) -> Sort | None:
    """Parse the flag; None when the request does not have it."""
    if text is None:
        return None
    if not collection.is_collection:
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
    _check_scalar(collection, path, text, subject)
    return Sort(() if path == (_id_name(collection),) else path, DIRECTIONS[direction])


def _id_name(path: EntityPath) -> str:
    if path.kind == "versions":
        return "versionid"
    return (path.group if path.kind == "groups" else path.resource).singular + "id"


def _check_scalar(collection: EntityPath, path: Path, text: str, subject: str) -> None:
    """Refuse paths into nested collections, and attributes that are no scalars (FLAG-062)."""
    in_group = collection.kind == "groups" and path[0] in collection.group.resources
    if in_group or (collection.kind == "resources" and path[0] == "versions"):
        _refuse(text, "it leads into another collection", subject)
    attribute = _attributes(collection).get(str(path[0]))
    if len(path) == 1 and attribute is not None and attribute.type in NOT_SCALAR:
        _refuse(text, f"{path[0]} is no scalar", subject)


def _attributes(path: EntityPath) -> Attributes:
    if path.kind == "groups":
        return path.group.attributes
    above = path.resource.resourceattributes if path.kind == "resources" else {}
    return {**above, **path.resource.attributes}


def _refuse(text: str, detail: str, subject: str) -> NoReturn:
    raise RegistryProblem("bad_sort", subject, value=text[:200], error_detail=detail)
