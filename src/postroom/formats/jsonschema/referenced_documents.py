"""The documents that a JSON Schema reaches through its references."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jsonschema_rs

from postroom.errors import ReferenceMissing, SchemaRefused
from postroom.formats.jsonschema.drafts import JsonSchemaDraft, draft_by_uri
from postroom.formats.jsonschema.schema_addresses import (
    CATALOG,
    HOME,
    REFERENCES,
    Located,
    SchemaAddresses,
    display_uri,
    join_reference,
)
from postroom.formats.jsonschema.validator_panics import panics_as
from postroom.formats.schema import Library, LibraryDocument
from postroom.formats.schema_text import load_json
from postroom.model.json_pointers import pointer

_MOST_DOCUMENTS = 200
_MOST_MISSES = 1_000


class DocumentSet:
    """A root document and all others it refers to, directly or not, read from a library beforehand."""

    def __init__(self, root: Any, draft: JsonSchemaDraft, library: Library) -> None:
        self.draft = draft
        self._library = library
        self._addresses = SchemaAddresses(draft)
        self._by_id: dict[str, LibraryDocument] | None = None
        self._missing: list[tuple[str, str]] = []
        self.with_base = self._addresses.with_base
        self.resolve = self._addresses.resolve
        self.resolve_plain_pointer = self._addresses.resolve_plain_pointer
        self.dynamic_anchor_in_scope = self._addresses.dynamic_anchor_in_scope
        self.recursive_anchor_in_scope = self._addresses.recursive_anchor_in_scope
        self.root = self._in_our_draft(root)
        _, self.address = self.with_base(self.root, HOME)
        self._load_referenced()

    @property
    def is_alone(self) -> bool:
        """Whether the root document refers to no other."""
        return len(self._addresses.roots) == 1

    def roots(self) -> Iterable[Any]:
        """All documents."""
        return self._addresses.roots.values()

    def nodes(self) -> Iterable[dict[str, Any]]:
        """All objects in all documents: subschemas, and what may look like them."""
        stack: list[Any] = list(self.roots())
        while stack:
            node = stack.pop()
            if isinstance(node, dict):
                yield node
            stack.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())

    def start(self) -> Located:
        """The root document and its address."""
        return self.root, self.address

    def targets(self, schema: dict[str, Any], base: str) -> list[Located]:
        """Where the references of a subschema may lead: of dynamic ones, everywhere that the dynamic scope could."""
        plain = (self.resolve(schema[name], base) for name in REFERENCES if name in schema)
        found = [target for target in plain if target is not None]
        if "$dynamicRef" in schema or "$recursiveRef" in schema:
            found += (other for other in self._addresses.dynamic(schema) if all(other[0] is not t for t, _ in found))
        return found

    def registry(self) -> jsonschema_rs.Registry:
        """The documents as jsonschema-rs wants them; SchemaRefused names a reference that leads nowhere."""
        try:
            with panics_as(SchemaRefused("the validator cannot make sense of the references of this schema.")):
                return jsonschema_rs.Registry(list(self._addresses.roots.items()), retriever=_retrieve_nothing)
        except (jsonschema_rs.ReferencingError, ValueError) as error:
            raise self._dangling_outside(error) from None

    def dangling(self) -> tuple[str, str] | None:
        """The pointer and text of a reference in the root document that leads nowhere, if there is one."""
        stack: list[tuple[Any, str, str]] = [(self.root, self.address, "")]
        while stack:
            node, base, at = stack.pop()
            if isinstance(node, list):
                stack.extend((item, base, f"{at}/{index}") for index, item in reversed(list(enumerate(node))))
            elif isinstance(node, dict):
                _, base = self.with_base(node, base)
                for name in REFERENCES:
                    if isinstance(node.get(name), str) and self.resolve(node[name], base) is None:
                        return f"{at}/{name}", node[name]
                stack.extend((item, base, at + pointer([key])) for key, item in reversed(node.items()))
        return None

    def _dangling_outside(self, error: Exception) -> SchemaRefused:
        for reference, target in self._missing:
            if target in str(error):
                at = next(iter(self.dangling() or ("",)))
                return ReferenceMissing(f"the reference {reference!r} leads to nothing in the catalog.", place=at)
        text = display_uri(str(error).splitlines()[0].rstrip(".")) if str(error) else "no reason given"
        return SchemaRefused(f"a reference leads nowhere: {text}.")

    def _load_referenced(self) -> None:
        """Read every document that is referred to, breadth first."""
        queue: list[tuple[Any, str, str]] = [(self.root, self.address, "")]
        asked: set[str] = set()
        for document, base, location in queue:
            for reference, address in self._addresses.add(document, base):
                target = join_reference(address, reference).partition("#")[0]
                if self._addresses.knows(target) or _is_meta_schema(target) or target in asked:
                    continue
                asked.add(target)
                # Data may look like references; what looks so a thousand times in vain is not looked for any more.
                found = None if len(self._missing) > _MOST_MISSES else self._find(reference, target, location)
                if found is None:
                    self._missing.append((reference, target))
                    continue
                if len(queue) >= _MOST_DOCUMENTS:
                    raise SchemaRefused(f"it refers to more than {_MOST_DOCUMENTS} other documents.")
                queue.append((self._in_our_draft(_schema_of(found.document, reference)), target, found.location))

    def _in_our_draft(self, document: Any) -> Any:
        """A document that names its draft: without a name that means something here it follows the root's."""
        if not isinstance(document, dict):
            return document
        stated = document.get("$schema", "")
        if not isinstance(stated, str) or draft_by_uri(stated) is not None or self._looked_up(stated, "") is not None:
            return document
        return {**document, "$schema": self.draft.uri}

    def _find(self, reference: str, target: str, location: str) -> LibraryDocument | None:
        """A document by its address, as the author wrote it, or by the `$id` of a neighbour."""
        for wanted in dict.fromkeys((reference.partition("#")[0], target)):
            found = self._looked_up(wanted, location) if wanted and not wanted.startswith(CATALOG) else None
            if found is not None:
                return found
        return self._neighbour(target)

    def _looked_up(self, reference: str, base: str) -> LibraryDocument | None:
        try:
            return self._library.find(reference, base)
        except ValueError:
            return None  # what is no address leads nowhere

    def _neighbour(self, target: str) -> LibraryDocument | None:
        if self._by_id is None:
            self._by_id = {}
            for found in self._library.neighbours():
                document = _readable(found.document)
                stated = document.get(self.draft.id_keyword) if isinstance(document, dict) else None
                if isinstance(stated, str):
                    self._by_id.setdefault(stated.partition("#")[0], LibraryDocument(found.location, document))
        return self._by_id.get(target)


def _retrieve_nothing(uri: str) -> Any:
    # All documents were loaded before; what is asked for now does not exist. Never the network.
    raise ValueError(f"{uri} is not in the catalog")


def _is_meta_schema(uri: str) -> bool:
    return uri.removeprefix("https://").removeprefix("http://").startswith("json-schema.org/draft")


def _readable(document: Any) -> Any:
    try:
        return load_json(document)
    except SchemaRefused:
        return None


def _schema_of(document: Any, reference: str) -> Any:
    try:
        found = load_json(document)
    except SchemaRefused as error:
        raise SchemaRefused(f"the document that {reference!r} refers to is broken: {error.sentence}") from None
    if not isinstance(found, dict | bool):
        raise SchemaRefused(f"the document that {reference!r} refers to is not a JSON Schema.")
    return found
