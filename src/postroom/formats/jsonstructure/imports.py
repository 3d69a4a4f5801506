"""Imports: definitions of other documents, copied in for `$import` and `$importdefs`."""

from __future__ import annotations

from typing import Any

from postroom.errors import ReferenceMissing, SchemaRefused
from postroom.formats.schema import Library, LibraryDocument
from postroom.formats.schema_text import load_json
from postroom.model.json_pointers import pointer

IMPORTS = ("$import", "$importdefs")
_MOST_IMPORTS = 200
_MOST_NEIGHBOURS = 2000
_DEEPEST = 100


def with_imports(document: dict[str, Any], library: Library) -> dict[str, Any]:
    """The document with everything it imports copied in, under the names it would have had if written here."""
    return _Importer(library).complete(document, "", ())


class _Importer:
    def __init__(self, library: Library) -> None:
        self._library = library
        self._count = 0

    def complete(self, document: dict[str, Any], base: str, trail: tuple[str, ...]) -> dict[str, Any]:
        definitions = document.get("definitions", {})
        if not isinstance(definitions, dict):
            raise SchemaRefused("definitions is a map of types and namespaces.", place="/definitions")
        path = ("definitions",)
        # At the root as in the root namespace: both mean the same.
        merged = self._imports(document, path, "", base, trail) | self._namespace(definitions, path, base, trail)
        rest = {name: value for name, value in document.items() if name not in IMPORTS}
        return {**rest, "definitions": merged} if merged or "definitions" in document else rest

    def _namespace(
        self, namespace: dict[str, Any], path: tuple[str, ...], base: str, trail: tuple[str, ...]
    ) -> dict[str, Any]:
        if len(path) > _DEEPEST:
            raise SchemaRefused("the namespaces are nested too deeply.", place=pointer(path[:8]))
        merged = self._imports(namespace, path, pointer(path), base, trail)
        for name, value in namespace.items():
            if name in IMPORTS:
                continue
            is_namespace = isinstance(value, dict) and "type" not in value
            merged[name] = self._namespace(value, (*path, name), base, trail) if is_namespace else value
        return merged

    def _imports(
        self, stating: dict[str, Any], path: tuple[str, ...], at: str, base: str, trail: tuple[str, ...]
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for keyword in IMPORTS:
            if keyword in stating:
                found |= _moved_types(
                    self._imported(stating[keyword], keyword, f"{at}/{keyword}", base, trail),
                    path,
                    with_root=keyword == "$import",
                )
        return found

    def _imported(self, reference: Any, keyword: str, at: str, base: str, trail: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(reference, str):
            raise SchemaRefused(f"{keyword} is the URI of a schema document.", place=at)
        self._count += 1
        if self._count > _MOST_IMPORTS:
            raise SchemaRefused(f"more than {_MOST_IMPORTS} documents are imported.", place=at)
        found = self._find(reference, base)
        if found is None:
            raise ReferenceMissing(f"the imported document {reference[:200]!r} is not in the catalog.", place=at)
        if found.location in trail:
            raise SchemaRefused(f"the import of {reference[:200]!r} leads back to itself.", place=at)
        document = load_json(found.document)
        if not isinstance(document, dict):
            raise SchemaRefused(f"the imported document {reference[:200]!r} is no JSON Structure document.", place=at)
        return self.complete(document, found.location, (*trail, found.location))

    def _find(self, reference: str, base: str) -> LibraryDocument | None:
        found = self._library.find(reference, base)
        if found is not None:
            return found
        # An import names a document by its $id, wherever the document lies.
        for count, neighbour in enumerate(self._library.neighbours()):
            document = neighbour.document
            if count >= _MOST_NEIGHBOURS:
                break
            if isinstance(document, dict) and str(document.get("$id", "")).rstrip("#") == reference.rstrip("#"):
                return neighbour
        return None


def _moved_types(document: dict[str, Any], path: tuple[str, ...], *, with_root: bool) -> dict[str, Any]:
    name = document.get("name")
    root = (*path, name) if isinstance(name, str) else None
    moved = {key: _moved(value, path, root, 0) for key, value in document.get("definitions", {}).items()}
    if with_root and root is not None and "type" in document:
        kept = {key: value for key, value in document.items() if not key.startswith("$") or key == "$extends"}
        kept.pop("definitions", None)
        moved.setdefault(root[-1], _moved(kept, path, root, 0))
    return moved


def _moved(value: Any, path: tuple[str, ...], root: tuple[str, ...] | None, depth: int) -> Any:
    """A copy of an imported type whose references lead to where its namespace lies now."""
    if depth > _DEEPEST * 4:
        raise SchemaRefused("an imported document is nested too deeply.")
    if isinstance(value, list):
        return [_moved(item, path, root, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    copied = {key: _moved(item, path, root, depth + 1) for key, item in value.items()}
    for key in ("$ref", "$extends"):
        if isinstance(copied.get(key), str):
            copied[key] = _moved_reference(copied[key], path, root)
        elif key == "$extends" and isinstance(copied.get(key), list):
            copied[key] = [_moved_reference(one, path, root) if isinstance(one, str) else one for one in copied[key]]
    return copied


def _moved_reference(reference: str, path: tuple[str, ...], root: tuple[str, ...] | None) -> str:
    if reference in ("#", "#/") and root is not None:
        return "#" + pointer(root)
    inside = reference.removeprefix("#/definitions/")
    return reference if inside == reference else f"#{pointer(path)}/{inside}"
