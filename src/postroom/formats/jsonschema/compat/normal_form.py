"""JSON Schemas of all drafts in one form, so that any two of them can be compared.

A normal form is written in the vocabulary of draft 2020-12: every subschema is an object, references point into one
table of definitions, annotations are gone. Two keywords of our own say what that draft cannot: `integerToken` (draft 4
tells 1.0 from 1) and `opaque` (something that only the validator understands).
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

from postroom.formats.jsonschema.compat.subschemas import Spot, Spots
from postroom.formats.schema import SchemaDocument

Node = dict[str, Any]

MOST_NODES = 4000
MOST_VALUES = 20_000
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_CONTENT = ("contentEncoding", "contentMediaType")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")


class TooLarge(Exception):
    """A schema is beyond what we compare; the text says in which way."""


class NormalForm:
    """One schema document in normal form; `spots` remembers where each part was written."""

    def __init__(self, source: SchemaDocument, prefix: str, defs: dict[str, Node]) -> None:
        self.defs = defs
        self.spots: dict[int, Spot] = {}
        self.opaque: list[str] = []
        self.exact_integers = False
        self._prefix = prefix
        self._names: dict[tuple[int, int], str] = {}
        self._written = Spots(source)
        self._dynamic: list[tuple[Node, str]] = []
        self._pending: deque[tuple[Node, Spot]] = deque()
        start = self._written.start()
        if start is None:
            raise TooLarge(f"the fragment {source.fragment} leads nowhere")
        self.root = self._sub(start)
        while self._pending:
            self._fill(*self._pending.popleft())
        for node, name in self._dynamic:
            # With one possible target, a dynamic reference is an ordinary one.
            if self._written.anchors(name) > 1:
                self._hide(node, f"the dynamic reference to {name or 'the root'}")

    def place(self, node: Node, keyword: str = "") -> str:
        """Where a part was written, as a JSON pointer (behind the address of its document, if that is another)."""
        spot = self.spots.get(id(node))
        if spot is None:
            return ""
        written = spot.node if isinstance(spot.node, dict) else {}
        if keyword == "format" and "format" not in written:
            keyword = node.get("format", "").partition(":")[0]
        spelled = next((name for name in (keyword, *_SPELLED.get(keyword, ())) if name and name in written), "")
        return f"{spot.at}/{spelled}" if spelled else spot.at

    def _sub(self, spot: Spot) -> Node:
        if len(self.spots) >= MOST_NODES:
            raise TooLarge(f"it has more than {MOST_NODES} parts")
        node: Node = {}
        self.spots[id(node)] = spot
        self._pending.append((node, spot))
        return node

    def _reference(self, spot: Spot) -> str:
        key = (id(spot.node), spot.dialect.number) if isinstance(spot.node, dict | list) else (-1, len(self._names))
        if key not in self._names:
            name = f"{self._prefix}{len(self._names)}"
            self._names[key] = name
            self.defs[name] = self._sub(spot)
        return f"#/$defs/{self._names[key]}"

    def _fill(self, node: Node, spot: Spot) -> None:
        written, number = spot.node, spot.dialect.number
        if written is False:
            node["not"] = {}
        if not isinstance(written, dict):
            return
        if isinstance(written.get("$ref"), str):
            self._refer(node, spot, "$ref")
            if spot.dialect.ref_alone:
                return
        for keyword in ("$dynamicRef",) if number >= 20 else ("$recursiveRef",) if number == 19 else ():
            if isinstance(written.get(keyword), str):
                self._refer_dynamically(node, spot, keyword)
        self._values(node, spot)
        self._applied(node, spot)
        self._members(node, spot)
        self._elements(node, spot)

    def _refer(self, node: Node, spot: Spot, keyword: str) -> None:
        target = self._written.find(spot.node[keyword], spot)
        if target is None:
            reference = spot.node[keyword]
            # Only addresses that the validator itself knows, those of the meta-schemas, mean the same everywhere.
            self._hide(node, f"the reference {reference}", reference if ":" in reference else "")
        elif "$ref" in node:
            node.setdefault("allOf", []).append({"$ref": self._reference(target)})
        else:
            node["$ref"] = self._reference(target)

    def _refer_dynamically(self, node: Node, spot: Spot, keyword: str) -> None:
        name = spot.node[keyword].rpartition("#")[2]
        self._refer(node, spot, keyword)
        self._dynamic.append((node, name))

    def _hide(self, node: Node, what: str, name: str = "") -> None:
        node.setdefault("opaque", []).append(name or f"{self._prefix} {what}")
        self.opaque.append(what)

    def _values(self, node: Node, spot: Spot) -> None:
        written, dialect = spot.node, spot.dialect
        if "type" in written:
            stated = written["type"]
            node["type"] = sorted(stated) if isinstance(stated, list) else [stated]
            if "integer" in node["type"] and "number" not in node["type"] and dialect.exact_integers:
                node["integerToken"] = self.exact_integers = True
        if isinstance(written.get("enum"), list):
            node["enum"] = written["enum"]
        if "const" in written and dialect.number >= 6:
            self._constant(node, spot)
        if len(node.get("enum", ())) > MOST_VALUES:
            raise TooLarge(f"it has an enum of more than {MOST_VALUES} values")
        for keyword in (*_COUNTS, *_BOUNDS, "multipleOf"):
            if _is_number(written.get(keyword)):
                node[keyword] = written[keyword]
        for keyword, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if written.get(keyword) is True and plain in node:
                node[keyword] = node.pop(plain)
        if isinstance(written.get("pattern"), str):
            node["pattern"] = written["pattern"]
        if isinstance(written.get("format"), str) and dialect.asserts("format", written["format"]):
            node["format"] = written["format"]
        for keyword in _CONTENT:
            if isinstance(written.get(keyword), str) and dialect.asserts(keyword, written[keyword]):
                node.setdefault("allOf", []).append(self._made({"format": f"{keyword}:{written[keyword]}"}, spot))

    def _constant(self, node: Node, spot: Spot) -> None:
        if "enum" in node:
            part = self._made({"enum": [spot.node["const"]]}, spot)
            node.setdefault("allOf", []).append(part)
        else:
            node["enum"] = [spot.node["const"]]

    def _made(self, node: Node, spot: Spot) -> Node:
        self.spots[id(node)] = spot
        return node

    def _applied(self, node: Node, spot: Spot) -> None:
        written = spot.node
        for keyword in _IN_PLACE_LISTS:
            if isinstance(written.get(keyword), list):
                parts = [self._sub(self._written.below(spot, keyword, index)) for index in range(len(written[keyword]))]
                node[keyword] = node.get(keyword, []) + parts
        for keyword in _IN_PLACE if spot.dialect.number >= 7 and "if" in written else ("not",):
            if keyword in written:
                node[keyword] = self._sub(self._written.below(spot, keyword))

    def _members(self, node: Node, spot: Spot) -> None:
        written, number = spot.node, spot.dialect.number
        if isinstance(written.get("required"), list):
            node["required"] = sorted(set(filter(_is_text, written["required"])))
        for keyword in ("properties", "patternProperties"):
            self._map(node, keyword, spot, keyword)
        if "additionalProperties" in written:
            node["additionalProperties"] = self._sub(self._written.below(spot, "additionalProperties"))
        if "propertyNames" in written and number >= 6:
            node["propertyNames"] = self._sub(self._written.below(spot, "propertyNames"))
        keywords = ("dependentSchemas", "dependentRequired", "dependencies") if number >= 19 else ("dependencies",)
        for keyword in keywords:
            if isinstance(written.get(keyword), dict) and _is_known(spot, keyword):
                self._dependencies(node, keyword, spot)
        if "unevaluatedProperties" in written and number >= 19 and "additionalProperties" not in written:
            # Without neighbours that could evaluate members, nothing but the additional ones is left.
            keyword = "unevaluatedProperties" if _has_neighbours(written) else "additionalProperties"
            node[keyword] = self._sub(self._written.below(spot, "unevaluatedProperties"))

    def _map(self, node: Node, keyword: str, spot: Spot, source: str) -> None:
        if isinstance(spot.node.get(source), dict):
            node[keyword] = {name: self._sub(self._written.below(spot, source, name)) for name in spot.node[source]}

    def _dependencies(self, node: Node, keyword: str, spot: Spot) -> None:
        for name, part in spot.node[keyword].items():
            if isinstance(part, list):
                needed = node.setdefault("dependentRequired", {}).setdefault(name, [])
                needed += [other for other in part if _is_text(other) and other not in needed]
            elif name in node.get("dependentSchemas", {}):
                self._hide(node, f"two dependencies of {name}")
            else:
                node.setdefault("dependentSchemas", {})[name] = self._sub(self._written.below(spot, keyword, name))

    def _elements(self, node: Node, spot: Spot) -> None:
        written, number = spot.node, spot.dialect.number
        first, rest = ("prefixItems", "items") if number >= 20 else ("items", "additionalItems")
        if isinstance(written.get(first), list):
            node["prefixItems"] = [self._sub(self._written.below(spot, first, i)) for i in range(len(written[first]))]
        elif number < 20:
            rest = "items"
        if rest in written and not isinstance(written[rest], list):
            node["items"] = self._sub(self._written.below(spot, rest))
        if written.get("uniqueItems") is True:
            node["uniqueItems"] = True
        if "contains" in written and number >= 6:
            node["contains"] = self._sub(self._written.below(spot, "contains"))
            for keyword in ("minContains", "maxContains") if number >= 19 else ():
                if _is_number(written.get(keyword)):
                    node[keyword] = written[keyword]
        if "unevaluatedItems" in written and number >= 19 and "items" not in node:
            keyword = "unevaluatedItems" if _has_neighbours(written) or "contains" in written else "items"
            node[keyword] = self._sub(self._written.below(spot, "unevaluatedItems"))


# How a keyword of the normal form may be spelled in other drafts.
_SPELLED = {
    "enum": ("const",),
    "minimum": ("exclusiveMinimum",),
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
    "prefixItems": ("items",),
    "items": ("additionalItems", "unevaluatedItems"),
    "additionalProperties": ("unevaluatedProperties",),
    "dependentRequired": ("dependencies",),
    "dependentSchemas": ("dependencies",),
    "integerToken": ("type",),
}


def _has_neighbours(written: Node) -> bool:
    neighbours = ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas")
    return any(keyword in written for keyword in (*neighbours, "dependencies"))


def _is_known(spot: Spot, keyword: str) -> bool:
    return spot.dialect.refuses({keyword: {"a": ["b"] if keyword != "dependentSchemas" else False}}, b'{"a":1}')


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
