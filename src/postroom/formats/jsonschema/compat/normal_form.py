"""The normal form of JSON Schemas of all drafts, so that any two of them can be compared.

A normal form is written in the vocabulary of draft 2020-12: every subschema is an object, references point into one
table of definitions, annotations are gone. Two keywords of our own say what that draft cannot: `integerToken` (draft 4
tells 1.0 from 1) and `opaque` (something that only the validator understands).
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

from postroom.formats.jsonschema.compat.subschemas import Subschema, Subschemas
from postroom.formats.schema import SchemaDocument

Node = dict[str, Any]

MOST_NODES = 4000
MOST_VALUES = 20_000
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_CONTENT = ("contentEncoding", "contentMediaType")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")


class SchemaTooLarge(Exception):
    """A schema beyond what we compare; the message says in which respect."""


class NormalForm:
    """One schema document in normal form; `subschemas` are the parts it was made from, by identity."""

    def __init__(self, source: SchemaDocument, prefix: str, defs: dict[str, Node]) -> None:
        self.defs = defs
        self.subschemas: dict[int, Subschema] = {}
        self.opaque: list[str] = []
        self.exact_integers = False
        self._prefix = prefix
        self._names: dict[tuple[int, int], str] = {}
        self._written = Subschemas(source)
        self._dynamic: list[tuple[Node, str]] = []
        self._pending: deque[tuple[Node, Subschema]] = deque()
        start = self._written.start()
        if start is None:
            raise SchemaTooLarge(f"the fragment {source.fragment} leads nowhere")
        self.root = self._sub(start)
        while self._pending:
            self._fill(*self._pending.popleft())
        for node, name in self._dynamic:
            # With one possible target, a dynamic reference is an ordinary one.
            if self._written.anchors(name) > 1:
                self._hide(node, f"the dynamic reference to {name or 'the root'}")

    def pointer_of(self, node: Node, keyword: str = "") -> str:
        """The JSON pointer of the subschema a part was made from (behind the address of another document)."""
        subschema = self.subschemas.get(id(node))
        if subschema is None:
            return ""
        written = subschema.node if isinstance(subschema.node, dict) else {}
        if keyword == "format" and "format" not in written:
            keyword = node.get("format", "").partition(":")[0]
        spelled = next((name for name in (keyword, *_SPELLED.get(keyword, ())) if name and name in written), "")
        return f"{subschema.at}/{spelled}" if spelled else subschema.at

    def _sub(self, subschema: Subschema) -> Node:
        if len(self.subschemas) >= MOST_NODES:
            raise SchemaTooLarge(f"it has more than {MOST_NODES} parts")
        node: Node = {}
        self.subschemas[id(node)] = subschema
        self._pending.append((node, subschema))
        return node

    def _reference(self, subschema: Subschema) -> str:
        key = (
            (id(subschema.node), subschema.support.number)
            if isinstance(subschema.node, dict | list)
            else (-1, len(self._names))
        )
        if key not in self._names:
            name = f"{self._prefix}{len(self._names)}"
            self._names[key] = name
            self.defs[name] = self._sub(subschema)
        return f"#/$defs/{self._names[key]}"

    def _fill(self, node: Node, subschema: Subschema) -> None:
        written, number = subschema.node, subschema.support.number
        if written is False:
            node["not"] = {}
        if not isinstance(written, dict):
            return
        if isinstance(written.get("$ref"), str):
            self._refer(node, subschema, "$ref")
            if subschema.support.ref_alone:
                return
        for keyword in ("$dynamicRef",) if number >= 20 else ("$recursiveRef",) if number == 19 else ():
            if isinstance(written.get(keyword), str):
                self._refer_dynamically(node, subschema, keyword)
        self._values(node, subschema)
        self._applied(node, subschema)
        self._members(node, subschema)
        self._elements(node, subschema)

    def _refer(self, node: Node, subschema: Subschema, keyword: str) -> None:
        target = self._written.find(subschema.node[keyword], subschema)
        if target is None:
            reference = subschema.node[keyword]
            # Only addresses that the validator itself knows, those of the meta-schemas, mean the same everywhere.
            self._hide(node, f"the reference {reference}", reference if ":" in reference else "")
        elif "$ref" in node:
            node.setdefault("allOf", []).append({"$ref": self._reference(target)})
        else:
            node["$ref"] = self._reference(target)

    def _refer_dynamically(self, node: Node, subschema: Subschema, keyword: str) -> None:
        name = subschema.node[keyword].rpartition("#")[2]
        self._refer(node, subschema, keyword)
        self._dynamic.append((node, name))

    def _hide(self, node: Node, what: str, name: str = "") -> None:
        node.setdefault("opaque", []).append(name or f"{self._prefix} {what}")
        self.opaque.append(what)

    def _values(self, node: Node, subschema: Subschema) -> None:
        written, support = subschema.node, subschema.support
        if "type" in written:
            stated = written["type"]
            node["type"] = sorted(stated) if isinstance(stated, list) else [stated]
            if "integer" in node["type"] and "number" not in node["type"] and support.exact_integers:
                node["integerToken"] = self.exact_integers = True
        if isinstance(written.get("enum"), list):
            node["enum"] = written["enum"]
        if "const" in written and support.number >= 6:
            self._constant(node, subschema)
        if len(node.get("enum", ())) > MOST_VALUES:
            raise SchemaTooLarge(f"it has an enum of more than {MOST_VALUES} values")
        for keyword in (*_COUNTS, *_BOUNDS, "multipleOf"):
            if _is_number(written.get(keyword)):
                node[keyword] = written[keyword]
        for keyword, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if written.get(keyword) is True and plain in node:
                node[keyword] = node.pop(plain)
        if isinstance(written.get("pattern"), str):
            node["pattern"] = written["pattern"]
        if isinstance(written.get("format"), str) and support.asserts("format", written["format"]):
            node["format"] = written["format"]
        for keyword in _CONTENT:
            if isinstance(written.get(keyword), str) and support.asserts(keyword, written[keyword]):
                node.setdefault("allOf", []).append(self._made({"format": f"{keyword}:{written[keyword]}"}, subschema))

    def _constant(self, node: Node, subschema: Subschema) -> None:
        if "enum" in node:
            part = self._made({"enum": [subschema.node["const"]]}, subschema)
            node.setdefault("allOf", []).append(part)
        else:
            node["enum"] = [subschema.node["const"]]

    def _made(self, node: Node, subschema: Subschema) -> Node:
        self.subschemas[id(node)] = subschema
        return node

    def _applied(self, node: Node, subschema: Subschema) -> None:
        written = subschema.node
        for keyword in _IN_PLACE_LISTS:
            if isinstance(written.get(keyword), list):
                parts = [
                    self._sub(self._written.below(subschema, keyword, index)) for index in range(len(written[keyword]))
                ]
                node[keyword] = node.get(keyword, []) + parts
        for keyword in _IN_PLACE if subschema.support.number >= 7 and "if" in written else ("not",):
            if keyword in written:
                node[keyword] = self._sub(self._written.below(subschema, keyword))

    def _members(self, node: Node, subschema: Subschema) -> None:
        written, number = subschema.node, subschema.support.number
        if isinstance(written.get("required"), list):
            node["required"] = sorted(set(filter(_is_text, written["required"])))
        for keyword in ("properties", "patternProperties"):
            self._map(node, keyword, subschema, keyword)
        if "additionalProperties" in written:
            node["additionalProperties"] = self._sub(self._written.below(subschema, "additionalProperties"))
        if "propertyNames" in written and number >= 6:
            node["propertyNames"] = self._sub(self._written.below(subschema, "propertyNames"))
        keywords = ("dependentSchemas", "dependentRequired", "dependencies") if number >= 19 else ("dependencies",)
        for keyword in keywords:
            if isinstance(written.get(keyword), dict) and _is_known(subschema, keyword):
                self._dependencies(node, keyword, subschema)
        if "unevaluatedProperties" in written and number >= 19 and "additionalProperties" not in written:
            # Without neighbours that could evaluate members, nothing but the additional ones is left.
            keyword = "unevaluatedProperties" if _has_neighbours(written) else "additionalProperties"
            node[keyword] = self._sub(self._written.below(subschema, "unevaluatedProperties"))

    def _map(self, node: Node, keyword: str, subschema: Subschema, source: str) -> None:
        if isinstance(subschema.node.get(source), dict):
            node[keyword] = {
                name: self._sub(self._written.below(subschema, source, name)) for name in subschema.node[source]
            }

    def _dependencies(self, node: Node, keyword: str, subschema: Subschema) -> None:
        for name, part in subschema.node[keyword].items():
            if isinstance(part, list):
                needed = node.setdefault("dependentRequired", {}).setdefault(name, [])
                needed += [other for other in part if _is_text(other) and other not in needed]
            elif name in node.get("dependentSchemas", {}):
                self._hide(node, f"two dependencies of {name}")
            else:
                node.setdefault("dependentSchemas", {})[name] = self._sub(self._written.below(subschema, keyword, name))

    def _elements(self, node: Node, subschema: Subschema) -> None:
        written, number = subschema.node, subschema.support.number
        first, rest = ("prefixItems", "items") if number >= 20 else ("items", "additionalItems")
        if isinstance(written.get(first), list):
            node["prefixItems"] = [
                self._sub(self._written.below(subschema, first, i)) for i in range(len(written[first]))
            ]
        elif number < 20:
            rest = "items"
        if rest in written and not isinstance(written[rest], list):
            node["items"] = self._sub(self._written.below(subschema, rest))
        if written.get("uniqueItems") is True:
            node["uniqueItems"] = True
        if "contains" in written and number >= 6:
            node["contains"] = self._sub(self._written.below(subschema, "contains"))
            for keyword in ("minContains", "maxContains") if number >= 19 else ():
                if _is_number(written.get(keyword)):
                    node[keyword] = written[keyword]
        if "unevaluatedItems" in written and number >= 19 and "items" not in node:
            keyword = "unevaluatedItems" if _has_neighbours(written) or "contains" in written else "items"
            node[keyword] = self._sub(self._written.below(subschema, "unevaluatedItems"))


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


def _is_known(subschema: Subschema, keyword: str) -> bool:
    return subschema.support.refuses({keyword: {"a": ["b"] if keyword != "dependentSchemas" else False}}, b'{"a":1}')


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
