"""A JSON Structure document: the checks of its root, the companions it enables, its imports and add-ins."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.jsonstructure.imports import IMPORTS, with_imports
from postroom.formats.schema import SchemaDocument
from postroom.formats.schema_text import load_json

COMPOSITION = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
DRAFTS = ("draft-00", "draft-01", "draft-02", "draft-03", "draft-04")
_META = re.compile(r"https?://json-structure\.(?:org|github\.io)/meta/([a-z-]+)/v0/?#?")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_CONTENTS = frozenset(("type", "$root", "definitions", *IMPORTS, *COMPOSITION))
# Both spellings stand in the companion's text.
_ENABLING = frozenset(("JSONStructureConditionalComposition", "JSONSchemaConditionalComposition"))


class StructureDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A schema document with its imports, and whether it may use conditional composition."""

    json: dict[str, Any]
    composition: bool
    offers: dict[str, tuple[str, ...]]


def load_document(source: SchemaDocument) -> StructureDocument:
    """The document of a source; SchemaRefused when its root is not that of a JSON Structure document."""
    if source.version and source.version not in DRAFTS:
        raise FormatUnknown(
            f"JsonStructure/{source.version} is not a draft we read.", remedy=f"We read {', '.join(DRAFTS)}."
        )
    document = load_json(source.document)
    if not isinstance(document, dict):
        raise SchemaRefused("a JSON Structure document is a JSON object.")
    _check_root(document)
    meta = _META.fullmatch(document["$schema"])
    # A meta-schema of somebody's own may enable anything; only the plain one of Core says that nothing is.
    enabled = meta is None or meta[1] != "core"
    uses = _strings(document.get("$uses", []), "/$uses")
    return StructureDocument(
        json=with_imports(document, source.library),
        composition=enabled or bool(_ENABLING & uses),
        offers=_offers(document.get("$offers", {})),
    )


def _check_root(document: dict[str, Any]) -> None:
    for name in ("$schema", "$id"):
        if name not in document:
            raise SchemaRefused(f"a JSON Structure document has {name} at its root.", place=f"/{name}")
        value = document[name]
        if not isinstance(value, str) or not _ABSOLUTE.fullmatch(value):
            raise SchemaRefused(f"{name} must be an absolute URI.", place=f"/{name}")
    if "json-schema.org/" in document["$schema"]:
        raise SchemaRefused("this is a JSON Schema, not a JSON Structure document.", place="/$schema")
    if not isinstance(document.get("name", ""), str):
        raise SchemaRefused("name must be text.", place="/name")
    if "type" in document and "name" not in document:
        raise SchemaRefused("a document with a type at its root has a name.", place="/name")
    if "type" in document and "$root" in document:
        raise SchemaRefused("type and $root exclude each other.", place="/$root")
    if isinstance(document.get("type"), list | dict):
        raise SchemaRefused(
            "the type at the root is neither a union nor a reference.",
            place="/type",
            remedy="Define it below definitions and point $root to it.",
        )
    if not document.keys() & _CONTENTS:
        raise SchemaRefused("the document has neither a type nor definitions.")
    if not isinstance(document.get("definitions", {}), dict):
        raise SchemaRefused("definitions is a map of types and namespaces.", place="/definitions")


def _strings(value: Any, at: str) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise SchemaRefused("this is a list of names.", place=at)
    return frozenset(value)


def _offers(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise SchemaRefused("$offers is a map from names to types of this document.", place="/$offers")
    offers = {}
    for name, offered in value.items():
        references = offered if isinstance(offered, list) else [offered]
        if not references or not all(isinstance(reference, str) for reference in references):
            raise SchemaRefused("an add-in is a reference or a list of references.", place=f"/$offers/{name}")
        offers[name] = tuple(references)
    return offers
