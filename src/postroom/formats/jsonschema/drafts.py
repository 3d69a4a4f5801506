"""The drafts of JSON Schema: the spellings of their names, and which one a document follows."""

from __future__ import annotations

import re
from typing import Any

import jsonschema_rs
import msgspec

from postroom.errors import FormatUnknown, SchemaRefused


class JsonSchemaDraft(msgspec.Struct, frozen=True):
    """One draft: our name for it, the address of its meta-schema, and what jsonschema-rs calls it."""

    name: str
    uri: str
    number: int
    validator: Any

    @property
    def ignores_siblings(self) -> bool:
        """Whether `$ref` hides the keywords beside it."""
        return self.number in (4, 6, 7)

    @property
    def id_keyword(self) -> str:
        """The keyword that gives a schema its address."""
        return "id" if self.number == 4 else "$id"


DRAFTS = (
    JsonSchemaDraft("draft-04", "http://json-schema.org/draft-04/schema#", 4, jsonschema_rs.Draft4Validator),
    JsonSchemaDraft("draft-06", "http://json-schema.org/draft-06/schema#", 6, jsonschema_rs.Draft6Validator),
    JsonSchemaDraft("draft-07", "http://json-schema.org/draft-07/schema#", 7, jsonschema_rs.Draft7Validator),
    JsonSchemaDraft(
        "draft/2019-09", "https://json-schema.org/draft/2019-09/schema", 19, jsonschema_rs.Draft201909Validator
    ),
    JsonSchemaDraft(
        "draft/2020-12", "https://json-schema.org/draft/2020-12/schema", 20, jsonschema_rs.Draft202012Validator
    ),
)
_NEWEST = DRAFTS[-1]
_BY_NUMBER = {draft.name.removeprefix("draft")[1:].lstrip("0"): draft for draft in DRAFTS}
_TOO_OLD = re.compile(r"json-schema\.org/draft-0[0-35]/")
_OLD_NUMBERS = ("0", "1", "2", "3", "5")
_SPELLING = re.compile(r"(?:draft)?[-/_ ]?v?0*(\d[\d-]*)")


def _bare(uri: str) -> str:
    return uri.strip().rstrip("#").removeprefix("http://").removeprefix("https://")


_BY_URI = {_bare(draft.uri): draft for draft in DRAFTS}


def draft_by_name(version: str) -> JsonSchemaDraft | None:
    """The draft that a version means, however it is spelled (`draft-07`, `Draft7`, `07`, `draft-2020-12`); the newest
    for none at all and for one that we do not know yet; None for one that is too old."""
    found = _SPELLING.fullmatch(version.strip().lower())
    if found is None:
        return _NEWEST
    return None if found[1] in _OLD_NUMBERS else _BY_NUMBER.get(found[1], _NEWEST)


def draft_by_uri(uri: Any) -> JsonSchemaDraft | None:
    """The draft whose meta-schema has this address."""
    return _BY_URI.get(_bare(uri)) if isinstance(uri, str) else None


def draft_of_document(document: Any, version: str) -> JsonSchemaDraft:
    """The draft a document follows: what its `$schema` says, else the version of the format's name."""
    stated = document.get("$schema") if isinstance(document, dict) else None
    known = draft_by_uri(stated)
    if known is not None:
        return known
    if isinstance(stated, str) and _TOO_OLD.search(stated):
        raise SchemaRefused(f"{stated!r} is a draft we do not read.", place="/$schema", remedy=_readable())
    named = draft_by_name(version)
    if named is None:
        raise FormatUnknown(f"the JSON Schema version {version!r} is not one we read.", remedy=_readable())
    return named


def _readable() -> str:
    return "We read " + ", ".join(draft.name for draft in DRAFTS) + "."
