"""JSON Schema judged by jsonschema-rs."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.columns import ColumnType
from postroom.formats.jsonschema import columns, samples
from postroom.formats.schema import SchemaDocument, Verdict, Violation
from postroom.formats.texts import json_of
from postroom.model.pointers import pointer

_DRAFTS: dict[str, Any] = {
    "draft-04": jsonschema_rs.Draft4Validator,
    "draft-06": jsonschema_rs.Draft6Validator,
    "draft-07": jsonschema_rs.Draft7Validator,
    "draft/2019-09": jsonschema_rs.Draft201909Validator,
    "draft/2020-12": jsonschema_rs.Draft202012Validator,
}
_NEWEST = "draft/2020-12"
_KEPT_WITH_FRAGMENT = ("$schema", "$id", "id", "definitions", "$defs", "components")


class JsonSchema:
    """One parsed JSON Schema."""

    def __init__(self, version: str, document: Any) -> None:
        self.document = document
        try:
            # Linear-time regular expressions, and no network whatever the references say.
            self._validator = _draft(version, document)(
                document, pattern_options=jsonschema_rs.RegexOptions(), offline=True
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            raise SchemaRefused(f"this is not a usable JSON Schema: {_first_line(error)}") from None

    def judge(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Decode and validate a payload."""
        try:
            # Not orjson: it turns integers beyond 64 bits into floats, and free-form parts must keep every digit.
            value = msgspec.json.decode(payload)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return None, [Violation("", "payload_not_json", "JSON", _first_line(error))]
        if self._validator.is_valid(value):
            return value, []
        return value, [_violation(error) for error in self._validator.iter_errors(value)]

    def encode(self, value: Any) -> bytes:
        """The value as compact JSON."""
        return msgspec.json.encode(value)

    @functools.cached_property
    def _columns(self) -> ColumnType:
        return columns.columns(self.document)

    def columns(self) -> ColumnType:
        """The columns values of this schema fill."""
        return self._columns

    def sample(self, rng: random.Random) -> Any:
        """A value that fits; SchemaRefused when none could be invented."""
        return samples.sample(self.document, rng, self._validator.is_valid)


def parse(source: SchemaDocument) -> JsonSchema:
    """The schema, ready for payloads."""
    document = json_of(source.document)
    if not isinstance(document, dict | bool):
        raise SchemaRefused("a JSON Schema is an object or a boolean.")
    if source.fragment and isinstance(document, dict):
        kept = {name: document[name] for name in _KEPT_WITH_FRAGMENT if name in document}
        document = {**kept, "$ref": "#/" + source.fragment.lstrip("#/")}
    return JsonSchema(source.version, document)


def check(source: SchemaDocument) -> None:
    """Raise SchemaRefused unless the document is a JSON Schema."""
    parse(source)


def readable(writer: SchemaDocument, reader: SchemaDocument) -> Verdict:
    """Not decided yet."""
    return Verdict(answer="undecided", reason="JSON Schemas are not compared yet.")


def _draft(version: str, document: Any) -> Any:
    stated = str(document.get("$schema", "")) if isinstance(document, dict) else ""
    wanted = f"{stated} {version}".lower().replace("draft-2", "draft/2")
    return next((validator for name, validator in _DRAFTS.items() if name in wanted), _DRAFTS[_NEWEST])


def _violation(error: Any) -> Violation:
    keyword: str = error.kind.name
    is_null = keyword == "type" and error.instance is None
    code = "null_not_allowed" if is_null else "payload_" + re.sub("([A-Z])", r"_\1", keyword).lower()
    describe = _EXPECTATIONS.get(keyword, lambda _: f"valid under {keyword}")
    return Violation(pointer(error.instance_path), code, describe(error.kind), shorten_json(error.instance))


_EXPECTATIONS: dict[str, Callable[[Any], str]] = {
    "type": lambda kind: " or ".join(kind.types),
    "enum": lambda kind: "one of " + ", ".join(map(shorten_json, kind.options)),
    "const": lambda kind: shorten_json(kind.value),
    "required": lambda kind: str(kind.property),
    "falseSchema": lambda _: "absent",
    "additionalProperties": lambda kind: ", ".join(kind.unexpected),
    "pattern": lambda kind: f"text like {kind.pattern}",
    "format": lambda kind: f"text in the format {kind.format}",
    "minimum": lambda kind: f"at least {kind.limit}",
    "maximum": lambda kind: f"at most {kind.limit}",
    "exclusiveMinimum": lambda kind: f"more than {kind.limit}",
    "exclusiveMaximum": lambda kind: f"less than {kind.limit}",
    "multipleOf": lambda kind: f"a multiple of {kind.multiple_of}",
    "minLength": lambda kind: f"text of at least {kind.limit} characters",
    "maxLength": lambda kind: f"text of at most {kind.limit} characters",
    "minItems": lambda kind: f"a list of at least {kind.limit} items",
    "maxItems": lambda kind: f"a list of at most {kind.limit} items",
}


def shorten_json(value: Any) -> str:
    """A value as JSON, cut where it gets long."""
    text = msgspec.json.encode(value, enc_hook=str).decode()
    return text if len(text) <= 200 else text[:199] + "…"


def _first_line(error: object) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
