"""Subschemas with their JSON pointers, drafts and base addresses, for comparing.

Comparing must agree with validating about every keyword. Which formats and encodings are asserted, for one, depends on
the draft, the library and our settings, so it is found out by validating a few payloads with a tiny document.
"""

from __future__ import annotations

import functools
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from postroom.formats.format_table import parse_schema
from postroom.formats.jsonschema.drafts import draft_by_name, draft_by_uri, draft_of_document
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.schema_addresses import display_uri, join_reference
from postroom.formats.schema import SchemaDocument
from postroom.formats.schema_text import load_json
from postroom.model.json_pointers import pointer

# Strings of which every format that is checked at all refuses one.
_ODD_TEXTS = (b'""', b'"("', b'" "', b'"%%\\u0000 {"', b'"-1"')


class KeywordSupport(msgspec.Struct, frozen=True):
    """What a draft of JSON Schema, by our name for it, makes of keywords."""

    name: str

    @property
    def number(self) -> int:
        """The draft's number: 4, 6, 7, 19 or 20."""
        draft = draft_by_name(self.name)
        return draft.number if draft else 20

    @property
    def ref_alone(self) -> bool:
        """Whether `$ref` hides the keywords beside it."""
        return self.number <= 7

    @property
    def exact_integers(self) -> bool:
        """Whether 1.0 is not an integer."""
        return self.refuses({"type": "integer"}, b"1.0")

    def asserts(self, keyword: str, value: str) -> bool:
        """Whether a format or encoding is an assertion rather than an annotation."""
        return any(self.refuses({keyword: value}, text) for text in _ODD_TEXTS)

    def refuses(self, document: dict[str, Any], payload: bytes) -> bool:
        """Whether a tiny document refuses a payload."""
        return _refuses(self.name, msgspec.json.encode(document), payload)


@functools.lru_cache(maxsize=1024)
def _refuses(draft: str, document: bytes, payload: bytes) -> bool:
    return bool(parse_schema(f"JsonSchema/{draft}", document).validate(payload)[1])


class Subschema(msgspec.Struct, frozen=True):
    """A subschema; `at` is its JSON pointer, behind the address of its document if that is another."""

    node: Any
    at: str
    base: str
    support: KeywordSupport


class Subschemas:
    """The subschemas that a schema document leads to."""

    def __init__(self, source: SchemaDocument) -> None:
        document = load_json(source.document)
        self._draft = draft_of_document(document, source.version)
        self._documents = DocumentSet(document, self._draft, source.library)
        self._bases: dict[str, Any] = {}
        self._fragment = source.fragment.removeprefix("#")

    def start(self) -> Subschema | None:
        """The subschema that the document's fragment picks, or all of it."""
        node, base = self._documents.start()
        home = self._subschema(node, "", base)
        if not self._fragment:
            return home
        escaped = quote(self._fragment, safe="/~!$&'()*+,;=:@%?")
        return self.find(f"#{escaped}", home) or self.find(f"#/{escaped}", home)

    def find(self, reference: str, seen_from: Subschema) -> Subschema | None:
        """What a reference means; None when it leads to nothing we hold."""
        found = self._documents.resolve(reference, seen_from.base)
        if found is None or not isinstance(found[0], dict | bool):
            return None
        node, base = self._documents.with_base(*found)
        home = self._documents.start()[1]
        at = display_uri(join_reference(seen_from.base, reference))
        if reference.startswith("#") and seen_from.base == home:
            inside = reference[1:]
            at = unquote(inside) if inside[:1] in ("", "/") else _anchored(self._documents.root, inside)
        return self._subschema(node, at, base)

    def below(self, subschema: Subschema, *steps: str | int) -> Subschema:
        """A part of a subschema."""
        node = subschema.node
        for step in steps:
            node = node[step]
        node, base = self._documents.with_base(node, subschema.base)
        return Subschema(node, subschema.at + pointer(steps), base, subschema.support)

    def anchors(self, name: str) -> int:
        """How many dynamic anchors of a name (recursive ones for "") are in the documents seen so far."""
        return sum(_count(document, name) for document in self._bases.values())

    def _subschema(self, node: Any, at: str, base: str) -> Subschema:
        if base not in self._bases:
            root = self._documents.resolve("#", base)
            self._bases[base] = node if root is None else root[0]
        root = self._bases[base]
        stated = draft_by_uri(root.get("$schema")) if isinstance(root, dict) else None
        return Subschema(node, at, base, KeywordSupport((stated or self._draft).name))


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
