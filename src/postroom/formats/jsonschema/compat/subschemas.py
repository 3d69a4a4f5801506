"""Subschemas as they are written: each with its place, its draft, and the address its references start from."""

from __future__ import annotations

import functools
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from postroom.formats.format_table import parse_schema
from postroom.formats.jsonschema.drafts import dialect as draft_at
from postroom.formats.jsonschema.drafts import draft_named, draft_of
from postroom.formats.jsonschema.referenced_documents import Documents
from postroom.formats.jsonschema.schema_addresses import joined, shown
from postroom.formats.schema import SchemaDocument
from postroom.formats.schema_text import load_json
from postroom.model.json_pointers import pointer

# Texts of which every format that is checked at all refuses one.
_ODD_TEXTS = (b'""', b'"("', b'" "', b'"%%\\u0000 {"', b'"-1"')


class Dialect(msgspec.Struct, frozen=True):
    """A draft of JSON Schema, by our name for it."""

    name: str

    @property
    def number(self) -> int:
        """The draft's number: 4, 6, 7, 19 or 20."""
        draft = draft_named(self.name)
        return draft.number if draft else 20

    @property
    def ref_alone(self) -> bool:
        """Whether `$ref` hides what stands beside it."""
        return self.number <= 7

    @property
    def exact_integers(self) -> bool:
        """Whether 1.0 is not an integer."""
        return self.refuses({"type": "integer"}, b"1.0")

    def asserts(self, keyword: str, value: str) -> bool:
        """Whether a format or encoding is checked rather than only noted."""
        return any(self.refuses({keyword: value}, text) for text in _ODD_TEXTS)

    def refuses(self, document: dict[str, Any], payload: bytes) -> bool:
        """Whether a tiny document refuses a payload."""
        return _refuses(self.name, msgspec.json.encode(document), payload)


@functools.lru_cache(maxsize=1024)
def _refuses(draft: str, document: bytes, payload: bytes) -> bool:
    return bool(parse_schema(f"JsonSchema/{draft}", document).validate(payload)[1])


class Spot(msgspec.Struct, frozen=True):
    """A subschema as written; `at` is its JSON pointer, behind the address of its document if that is another."""

    node: Any
    at: str
    base: str
    dialect: Dialect


class Spots:
    """The subschemas that a schema document leads to."""

    def __init__(self, source: SchemaDocument) -> None:
        document = load_json(source.document)
        self._draft = draft_of(document, source.version)
        self._documents = Documents(document, self._draft, source.library)
        self._bases: dict[str, Any] = {}
        self._fragment = source.fragment.removeprefix("#")

    def start(self) -> Spot | None:
        """The subschema that the document's fragment picks, or all of it."""
        node, base = self._documents.start()
        home = self._spot(node, "", base)
        if not self._fragment:
            return home
        escaped = quote(self._fragment, safe="/~!$&'()*+,;=:@%?")
        return self.find(f"#{escaped}", home) or self.find(f"#/{escaped}", home)

    def find(self, reference: str, seen_from: Spot) -> Spot | None:
        """What a reference means; None when it leads to nothing we hold."""
        found = self._documents.follow(reference, seen_from.base)
        if found is None or not isinstance(found[0], dict | bool):
            return None
        node, base = self._documents.enter(*found)
        home = self._documents.start()[1]
        at = shown(joined(seen_from.base, reference))
        if reference.startswith("#") and seen_from.base == home:
            inside = reference[1:]
            at = unquote(inside) if inside[:1] in ("", "/") else _anchored(self._documents.root, inside)
        return self._spot(node, at, base)

    def below(self, spot: Spot, *steps: str | int) -> Spot:
        """A part of a subschema."""
        node = spot.node
        for step in steps:
            node = node[step]
        node, base = self._documents.enter(node, spot.base)
        return Spot(node, spot.at + pointer(steps), base, spot.dialect)

    def anchors(self, name: str) -> int:
        """How many dynamic anchors of a name (recursive ones for "") are in the documents seen so far."""
        return sum(_count(document, name) for document in self._bases.values())

    def _spot(self, node: Any, at: str, base: str) -> Spot:
        if base not in self._bases:
            root = self._documents.follow("#", base)
            self._bases[base] = node if root is None else root[0]
        root = self._bases[base]
        stated = draft_at(root.get("$schema")) if isinstance(root, dict) else None
        return Spot(node, at, base, Dialect((stated or self._draft).name))


def _anchored(document: Any, name: str) -> str:
    """The pointer of the subschema that carries an anchor."""
    pending: list[tuple[Any, str]] = [(document, "")]
    while pending:
        node, at = pending.pop()
        if isinstance(node, dict):
            if f"#{name}" in (node.get("$id"), node.get("id")) or name in (
                node.get("$anchor"),
                node.get("$dynamicAnchor"),
            ):
                return at
            pending += [(part, at + pointer([key])) for key, part in node.items()]
        elif isinstance(node, list):
            pending += [(part, f"{at}/{index}") for index, part in enumerate(node)]
    return f"#{name}"


def _count(document: Any, name: str) -> int:
    found, pending = 0, [document]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            found += node.get("$dynamicAnchor") == name if name else node.get("$recursiveAnchor") is True
            pending += node.values()
        elif isinstance(node, list):
            pending += node
    return found
