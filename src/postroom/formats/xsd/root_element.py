"""Which element a payload starts with: the one a reference picks, or the document's own root."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from postroom.errors import SchemaRefused
from postroom.formats.xsd.documents import SchemaPart
from postroom.formats.xsd.xml_names import local_name, xs

_BY_NAME = re.compile(r"""\[@name\s*=\s*(['"])(?P<name>[^'"]+)\1\]$""")


def root_name(parts: list[SchemaPart], fragment: str) -> str:
    """The local name of the global element (or named type) that is meant."""
    wanted = _wanted(fragment)
    elements = _global(parts[0], "element")
    types = _global(parts[0], "complexType")
    if wanted:
        return _picked(wanted, fragment, elements, types)
    if not elements:
        elements = [found for part in parts[1:] for found in _global(part, "element")]
    concrete = [found for found in elements if found.get("abstract") not in ("true", "1")]
    if not concrete:
        raise SchemaRefused(
            "the schema declares no global element, so no payload can fit it.",
            remedy=f"A fragment can pick one of its types: {_choices(types)}." if types else "",
        )
    referred = {local_name(node.get("ref").replace(":", "}")) for part in parts for node in _references(part)}
    free = [found for found in concrete if found.get("name") not in referred and not found.get("substitutionGroup")]
    if not free and len(concrete) > 1:
        raise SchemaRefused(
            "each global element of the schema is used by another one, so none is the root.",
            remedy=f"A fragment can pick one: {_choices(concrete)}.",
        )
    return str((free or concrete)[0].get("name"))


def _picked(wanted: str, fragment: str, elements: list[Any], types: list[Any]) -> str:
    if any(found.get("name") == wanted for found in elements):
        return wanted
    for found in types:
        if found.get("name") == wanted:
            _declare(found)
            return wanted
    raise SchemaRefused(
        f"the fragment {fragment!r} picks nothing of the schema.", remedy=f"It has {_choices([*elements, *types])}."
    )


def _declare(xsd_type: Any) -> None:
    """Give a named type an element of the same name, so that validators can start there."""
    schema = xsd_type.getparent()
    namespace = schema.get("targetNamespace")
    prefix = {"picked": namespace} if namespace else None
    name = xsd_type.get("name")
    if not namespace and None in schema.nsmap:
        raise SchemaRefused(f"the type {name!r} cannot be picked: the schema's default namespace hides it.")
    etree.SubElement(
        schema, xs("element"), {"name": name, "type": f"picked:{name}" if namespace else name}, nsmap=prefix
    )


def _wanted(fragment: str) -> str:
    path = fragment.strip().lstrip("#").strip()
    found = _BY_NAME.search(path)
    if found:
        return found["name"]
    last = path.rstrip("/").rpartition("/")[2]
    return last.rpartition("}")[2].rpartition(":")[2]


def _global(part: SchemaPart, component_tag: str) -> list[Any]:
    return [child for child in part.root if child.tag == xs(component_tag) and child.get("name")]


def _references(part: SchemaPart) -> list[Any]:
    """Elements that refer to global ones, without an element that refers to itself only."""
    return [
        node
        for node in part.root.iter(xs("element"))
        if node.get("ref") and node.get("ref").rpartition(":")[2] != _owner(node)
    ]


def _owner(node: Any) -> str:
    while node.getparent() is not None and node.getparent().tag != xs("schema"):
        node = node.getparent()
    return str(node.get("name") or "")


def _choices(found: list[Any]) -> str:
    names = [str(node.get("name")) for node in found]
    return ", ".join(names[:20]) + (", …" if len(names) > 20 else "") or "nothing"
