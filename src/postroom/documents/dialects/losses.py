"""Losses of a conversion: the difference between a tree and what is read back from its document in a dialect."""

from __future__ import annotations

import re
from typing import Any

from postroom.documents.dialects.dialect import Dialect, Loss, Tree
from postroom.documents.dialects.document_reader import implied_content_type
from postroom.documents.dialects.protocol_options import named_list
from postroom.documents.dialects.references import as_xid
from postroom.documents.dialects.walk_tree import objects
from postroom.model.json_pointers import pointer
from postroom.protocols.protocol_table import canonical_protocol

Steps = tuple[Any, ...]

_NOTHING: Any = object()
_VALID_NAME = re.compile(r"^[a-z_][a-z0-9_]*$")
_OTHER_MEANING = frozenset(
    ("id", "version", "versionid", "type", "origin", "docs", "tags", "uri", "format", "binding", "metadata", "message")
) | frozenset(("schema", "schemaurl", "schemaformat", "config", "xref", "readonly", "defaultversionid"))
_ID = "x"
_COLLECTIONS = ("messages", "schemas")
_MARKERS = ("specversion", "$schema")


def losses(tree: Tree, read_back: Tree, dialect: Dialect) -> list[Loss]:
    """All that the tree says and its document in a dialect does not."""
    missing: list[tuple[Steps, Any]] = []
    _find_missing(_with_flat_schemas(tree), _with_flat_schemas(read_back), (), missing)
    reasons: dict[Steps, str] = {}
    found = []
    for steps, value in missing:
        # The ids in the path have nothing to do with the reason.
        shape = (None, steps[0], *steps[4:]) if len(steps) > 4 and steps[2] in _COLLECTIONS else steps
        if shape not in reasons:
            place = (steps[0], _ID, steps[2], _ID, *steps[4:]) if shape is not steps else steps
            reasons[shape] = dialect.why(pointer(place)) or _name_reason(place) or f"{dialect.name} has no place for it"
        found.append(Loss(steps, value, reasons[shape]))
    return found


def _name_reason(steps: tuple[Any, ...]) -> str:
    """Why an extension is lost: by the name it has."""
    name = steps[-1] if steps else ""
    if not isinstance(name, str) or not _VALID_NAME.match(name):
        return "1.0 does not allow this name; it is kept among the extras"
    return "the older dialects have an attribute of this name with another meaning" if name in _OTHER_MEANING else ""


def _with_flat_schemas(tree: Tree) -> Tree:
    """The tree with schemas that have one Version written without a collection of them."""
    plain = {name: value for name, value in tree.items() if name not in _MARKERS}
    if not isinstance(tree.get("schemagroups"), dict):
        return plain
    plain["schemagroups"] = {
        name: {**group, "schemas": _flat_schemas(group["schemas"])}
        if isinstance(group, dict) and isinstance(group.get("schemas"), dict)
        else group
        for name, group in tree["schemagroups"].items()
    }
    return plain


def _flat_schemas(schemas: Tree) -> Tree:
    return {name: _flat_schema(schema) if isinstance(schema, dict) else schema for name, schema in schemas.items()}


def _flat_schema(schema: Tree) -> Tree:
    versions = objects(schema, "versions")
    if "defaultversionid" in schema:  # C-38: files have it on the resource, too
        meta = schema.get("meta")
        chosen = {"defaultversionid": schema["defaultversionid"], **(meta if isinstance(meta, dict) else {})}
        schema = {**{name: value for name, value in schema.items() if name != "defaultversionid"}, "meta": chosen}
    if len(versions) != 1:
        return schema
    ((version, own),) = versions.items()
    rest = {name: value for name, value in schema.items() if name != "versions"}
    return {"versionid": version, **rest, **own}


def _find_missing(given: Any, back: Any, steps: Steps, found: list[tuple[Steps, Any]]) -> None:
    if isinstance(given, dict) and isinstance(back, dict):
        for name, value in given.items():
            other = back.get(name, _NOTHING)
            if other is _NOTHING and not (name == "contenttype" and _is_implied(value, given)):
                found.append(((*steps, name), value))
            elif other is not _NOTHING and value is not other and not _same(value, other, name):
                _find_missing(value, other, (*steps, name), found)
    elif isinstance(given, list) and isinstance(back, list) and len(given) == len(back):
        for position, (one, other) in enumerate(zip(given, back, strict=True)):
            if not _same(one, other, ""):
                _find_missing(one, other, (*steps, position), found)
    elif steps:
        found.append((steps, given))


def _is_implied(content_type: Any, version: Tree) -> bool:
    return "schema" in version and content_type == implied_content_type(version["schema"])


def _same(given: Any, back: Any, name: str) -> bool:
    if given == back and type(given) is type(back):
        return True
    if isinstance(given, str) and isinstance(back, str):
        if name in ("protocol", "envelope"):  # compared ignoring case, in any spelling
            return canonical_protocol(given) == canonical_protocol(back)
        return bool(as_xid(given) == as_xid(back))
    if name in ("query", "headers"):  # C-04: a map says the same as a list
        return bool(named_list(given) == named_list(back))
    # C-05: a property of which only the value is known may be written as that value.
    if isinstance(given, dict) and given.keys() == {"value"} and not isinstance(back, dict):
        return bool(given["value"] == back)
    return isinstance(back, dict) and back.keys() == {"value"} and bool(back["value"] == given)
