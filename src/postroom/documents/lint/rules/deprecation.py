"""Rules on what is deprecated: when it goes, and what to use instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import section, text
from postroom.documents.lint.subjects import COLLECTIONS, LintedDocument
from postroom.messages.definitions.catalog_tree import Tree, local_path
from postroom.model.json_pointers import pointer
from postroom.model.scalar_types import normal_timestamp


def without_alternative(document: LintedDocument) -> Iterator[Diagnostic]:
    """What is deprecated names what to use instead."""
    for steps, deprecated in document.deprecated:
        if not deprecated.get("alternative"):
            yield Diagnostic(pointer(steps), "it is deprecated, and no alternative is named.", "Add `alternative`.")


def alternative_dangling(document: LintedDocument) -> Iterator[Diagnostic]:
    """The alternative is there."""
    for steps, deprecated in document.deprecated:
        path = _alternative(document, deprecated)
        if path is not None and _find(document.tree, path) is None:
            sentence = f"the catalog has no {path}."
            yield Diagnostic(pointer((*steps, "alternative")), sentence, "Correct the reference.")


def alternative_deprecated(document: LintedDocument) -> Iterator[Diagnostic]:
    """The alternative is not deprecated as well."""
    for steps, deprecated in document.deprecated:
        path = _alternative(document, deprecated)
        found = _find(document.tree, path) if path else None
        if isinstance(found, dict) and (section(found, "deprecated") or section(section(found, "meta"), "deprecated")):
            yield Diagnostic(
                pointer((*steps, "alternative")), f"{path} is deprecated as well.", "Name one that is not."
            )


def removal_too_early(document: LintedDocument) -> Iterator[Diagnostic]:
    """Nothing is removed before it is deprecated."""
    for steps, deprecated in document.deprecated:
        effective = normal_timestamp(text(deprecated, "effective"))
        removal = normal_timestamp(text(deprecated, "removal"))
        if effective and removal and removal < effective:
            sentence = f"it is removed at {removal}, before it is deprecated at {effective}."
            yield Diagnostic(pointer((*steps, "removal")), sentence, "Correct one of the times.")


def docs_variant(document: LintedDocument) -> Iterator[Diagnostic]:
    """The documentation of a deprecation was called docs."""
    for steps, deprecated in document.deprecated:
        if "docs" in deprecated:
            sentence = "docs is another name of documentation."
            yield Diagnostic(pointer((*steps, "docs")), sentence, "Write documentation.")


def _alternative(document: LintedDocument, deprecated: Tree) -> str | None:
    stated = text(deprecated, "alternative")
    path = local_path(stated, document.tree) if stated else None
    return path if path and path.strip("/").split("/")[0] in COLLECTIONS else None


def _find(tree: Tree, path: str) -> Any:
    found: Any = tree
    for step in path.partition("#")[0].strip("/").split("/"):
        found = found.get(step) if isinstance(found, dict) else None
    return found
