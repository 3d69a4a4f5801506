"""Addresses of JSON Schemas: `$id`, anchors and JSON pointers, and where references lead by them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from postroom.formats.jsonschema.drafts import JsonSchemaDraft, draft_by_uri
from postroom.formats.jsonschema.keywords import APPLICATORS, MAPS
from postroom.urls import join_url

# Stands for the catalog in addresses: names under .invalid never resolve (RFC 2606).
CATALOG = "https://catalog.invalid"
HOME = CATALOG + "/schemagroups/-/schemas/-"
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

# A subschema and the address that references in it start from.
Located = tuple[Any, str]


class SchemaAddresses:
    """Which subschema has which address, over several documents."""

    def __init__(self, draft: JsonSchemaDraft) -> None:
        self.draft = draft
        self.roots: dict[str, Any] = {}
        self._named: dict[str, Any] = {}
        self._anchors: dict[tuple[str, str], Any] = {}
        self._dynamic: dict[str, dict[str, Any]] = {}
        self._recursive: dict[str, Any] = {}
        # By the identity of subschemas, which all live as long as their documents.
        self._entered: dict[int, str] = {}
        self._followed: dict[tuple[str, str], Located | None] = {}

    def add(self, document: Any, base: str) -> list[tuple[str, str]]:
        """Take in a document; its references to other documents, each with the address it starts from."""
        self.roots[base] = document
        found: list[tuple[str, str]] = []
        # By hand, not by recursion: documents may be nested deeply.
        stack = [(document, base, True)]
        while stack:
            node, address, is_schema = stack.pop()
            if isinstance(node, list):
                stack.extend((item, address, is_schema) for item in node)
            elif isinstance(node, dict):
                if is_schema:
                    _, address = self.with_base(node, address)
                    self._name(node, address)
                found.extend((node[name], address) for name in REFERENCES if isinstance(node.get(name), str))
                if isinstance(node.get("$schema"), str) and draft_by_uri(node["$schema"]) is None:
                    found.append((node["$schema"], address))
                # What looks like an address in a value, or under a keyword that nobody knows, is none.
                for name, item in node.items():
                    if is_schema and name in MAPS and isinstance(item, dict):
                        stack.extend((part, address, True) for part in item.values())
                    else:
                        stack.append((item, address, is_schema and name in APPLICATORS))
        return [pair for pair in found if not pair[0].startswith("#")]

    def knows(self, address: str) -> bool:
        """Whether a document or subschema has this address."""
        return address in self.roots or address in self._named

    def with_base(self, schema: Any, base: str) -> Located:
        """A subschema with the base address that its own `$id` sets; idempotent."""
        stated = self._stated(schema)
        if stated is None or stated.startswith("#"):
            return schema, base
        if id(schema) not in self._entered:
            self._entered[id(schema)] = join_reference(base, stated).partition("#")[0]
        return schema, self._entered[id(schema)]

    def dynamic(self, schema: dict[str, Any]) -> list[Located]:
        """All subschemas that the dynamic reference of a subschema may mean, whatever the dynamic scope."""
        name = str(schema.get("$dynamicRef", "")).rpartition("#")[2]
        return [
            *((node, at) for at, anchors in self._dynamic.items() if (node := anchors.get(name)) is not None),
            *((node, at) for at, node in self._recursive.items() if "$recursiveRef" in schema),
        ]

    def dynamic_anchor_in_scope(self, name: str, scope: tuple[str, ...]) -> Located | None:
        """The subschema with a dynamic anchor in the outermost resource of a scope that has one."""
        return next(((self._dynamic[at][name], at) for at in scope if name in self._dynamic.get(at, ())), None)

    def recursive_anchor_in_scope(self, scope: tuple[str, ...]) -> Located | None:
        """The outermost resource of a scope that says `"$recursiveAnchor": true`."""
        return next(((self._recursive[at], at) for at in scope if at in self._recursive), None)

    def resolve(self, reference: Any, base: str) -> Located | None:
        """Where a reference leads, seen from an address; None when it leads nowhere."""
        if not isinstance(reference, str):
            return None
        if (base, reference) not in self._followed:
            self._followed[base, reference] = self._resolve(reference, base)
        return self._followed[base, reference]

    def resolve_plain_pointer(self, reference: Any, base: str) -> Located | None:
        """Resolve a reference that is nothing but a JSON pointer into a whole document, which is unambiguous; None for
        all others."""
        found = self.resolve(reference, base)
        address, _, fragment = join_reference(base, str(reference)).partition("#")
        plain = address in self.roots and (not fragment or fragment.startswith("/"))
        inside = len(self._named) <= sum(self._stated(root) is not None for root in self.roots.values())
        return found if plain and inside else None

    def _resolve(self, reference: str, base: str) -> Located | None:
        address, _, fragment = join_reference(base, reference).partition("#")
        root = self.roots.get(address, self._named.get(address))
        if root is None:
            return None
        if fragment and not fragment.startswith("/"):
            named = self._anchors.get((address, unquote(fragment)))
            return None if named is None else (named, address)
        found, at = root, address
        for step in fragment[1:].split("/") if fragment else ():
            found, at = self.with_base(_child(found, unquote(step).replace("~1", "/").replace("~0", "~")), at)
            if found is None:
                return None
        return found, at

    def _name(self, node: dict[str, Any], address: str) -> None:
        stated = self._stated(node)
        if stated is not None and stated.startswith("#"):
            self._anchors.setdefault((address, stated[1:]), node)
        elif stated is not None:
            self._named.setdefault(address, node)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(node.get(keyword), str):
                self._anchors.setdefault((address, node[keyword]), node)
        if isinstance(node.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(address, {}).setdefault(node["$dynamicAnchor"], node)
        if node.get("$recursiveAnchor") is True:
            self._recursive.setdefault(address, node)

    def _stated(self, schema: Any) -> str | None:
        stated = schema.get(self.draft.id_keyword) if isinstance(schema, dict) else None
        hidden = self.draft.ignores_siblings and isinstance(schema, dict) and "$ref" in schema
        return stated if isinstance(stated, str) and not hidden else None


def join_reference(base: str, reference: str) -> str:
    """Resolve a reference against a base address."""
    if base.startswith("urn:") and reference.startswith("#"):  # a URN has no slashes to be taken apart at
        return base + reference
    join_reference = join_url(base, reference)
    return reference if join_reference is None else join_reference


def display_uri(uri: str) -> str:
    """An address as its author wrote it, without our stand-in for the catalog."""
    return uri.replace(CATALOG + "/schemagroups/-/schemas/", "").replace(CATALOG, "")


def _child(node: Any, step: str) -> Any:
    if isinstance(node, dict):
        return node.get(step)
    if isinstance(node, list) and step.isdecimal() and len(step) < 10 and int(step) < len(node):
        return node[int(step)]
    return None
