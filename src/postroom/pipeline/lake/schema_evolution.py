"""How a table's columns may change: new columns are added, anything else needs a new table.

Works on Delta's own JSON of a schema, so that it needs neither Arrow nor a table.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Incompatible(Exception):
    """The columns cannot both be columns of one table; the text says which."""


class TextForTime(Incompatible):
    """The table has text where times would come, which may come as text as well."""


def new_columns(present: str, wanted: str) -> tuple[list[str], list[str]]:
    """What `wanted` adds to the schema `present`: Delta fields (JSON) to merge in, and the paths of the new columns.

    Raises Incompatible when a column changes its type, or differs from another one only by case.
    """
    fields: list[str] = []
    paths: list[str] = []
    old = _by_name(msgspec.json.decode(present)["fields"])
    for field in msgspec.json.decode(wanted)["fields"]:
        added = _added(old, field, field["name"])
        if added:
            fields.append(msgspec.json.encode(field).decode())
            paths.extend(added)
    return fields, paths


def _by_name(fields: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {field["name"].lower(): field for field in fields}


def _added(siblings: dict[str, dict[str, Any]], field: dict[str, Any], path: str) -> list[str]:
    old = siblings.get(field["name"].lower())
    if old is None:
        return [path]
    if old["name"] != field["name"]:
        raise Incompatible(f"{path} differs from {old['name']} only by case")
    return _added_in_type(old["type"], field["type"], path)


def _added_in_type(old: Any, new: Any, path: str) -> list[str]:
    if isinstance(old, str) or isinstance(new, str) or old["type"] != new["type"]:
        if old != new:
            error = TextForTime if old == "string" and new in ("timestamp", "date") else Incompatible
            raise error(f"{path} was {_named(old)} and is now {_named(new)}")
        return []
    if new["type"] == "struct":
        siblings = _by_name(old["fields"])
        return [added for field in new["fields"] for added in _added(siblings, field, f"{path}.{field['name']}")]
    part, inside = ("elementType", "[]") if new["type"] == "array" else ("valueType", "{}")
    return _added_in_type(old[part], new[part], path + inside)


def _named(delta_type: Any) -> str:
    return delta_type if isinstance(delta_type, str) else str(delta_type["type"])
