"""Bodies: the payload of a message that is made, encoded as its content type says and checked before it leaves."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cached_property
from typing import Any

import msgspec

from postroom.errors import MakeRefused, SchemaRefused
from postroom.formats.fill_columns import ColumnMismatch, Filler, filler
from postroom.formats.format_table import sample_value
from postroom.formats.schema import FastSchema, PayloadSchema, Violation
from postroom.messages.definitions.constraints import shorten
from postroom.messages.definitions.definition import Definition
from postroom.messages.engine import Engine, payload_reason
from postroom.messages.matching.explain import explain_reason
from postroom.protocols.cloudevents import JSON_DATA, is_json

MOST_NAMED = 5


class Auto:
    """Stands for a payload to be invented."""


AUTO = Auto()
Shortcut = Callable[[Any], bytes | None]
"""It gives None where only `make` can tell."""

UNWRITABLE = (SchemaRefused, TypeError, ValueError, OverflowError, RecursionError)


class BodyMaker:
    """Makes the payloads of one definition."""

    def __init__(self, definition: Definition, engine: Engine) -> None:
        self.definition = definition
        self._engine = engine

    @cached_property
    def schema(self) -> PayloadSchema | None:
        """The payload schema, where there is one that can be had."""
        return self._engine.schema(self.definition)

    @cached_property
    def _fill(self) -> Filler | None:
        return None if self.schema is None else filler(self.schema.columns())

    @cached_property
    def _quick(self) -> FastSchema | None:
        schema: Any = self.schema
        return schema if isinstance(schema, FastSchema) and schema.has_fast_path(JSON_DATA) else None

    def shortcut(self, contenttype: str) -> Shortcut:
        """What writes an object as JSON, as `make` does for one content type, by the shortest way."""
        schema, quick = self.schema, self._quick
        if not is_json(contenttype) or (schema is not None and quick is None):
            return lambda _data: None
        if schema is None or quick is None:
            return _written
        encode, fill = schema.encode, quick.fill

        def shortcut(data: Any) -> bytes | None:
            try:
                body = encode(data, contenttype)
            except UNWRITABLE:
                return None
            return body if fill(body)[1] else None

        return shortcut

    def make(self, data: Any, contenttype: str, rng: random.Random) -> bytes:
        """The bytes of a payload; MakeRefused says what does not fit."""
        if self.schema is None:
            return self._free(data, contenttype)
        if data is None:
            raise self._refused("the definition needs data.", "Give some, or `auto` to invent it.")
        if isinstance(data, Auto):
            data = self._invented(self.schema, rng)
        body = data if isinstance(data, bytes) else self._encoded(self.schema, data, contenttype)
        if self._quick is not None and is_json(contenttype) and self._quick.fill(body)[1]:
            return body
        violations = self._violations(self.schema, body, contenttype)
        if violations and isinstance(data, bytes) and not is_json(contenttype):
            # People write down in JSON what a payload in a binary format, or in XML, is to say.
            value = _read_json(data)
            if value is not None:
                body = self._encoded(self.schema, value, contenttype)
                violations = self._violations(self.schema, body, contenttype)
        if violations:
            reasons = [explain_reason(payload_reason(self.definition, v)) for v in violations[:MOST_NAMED]]
            raise self._refused(f"the data does not fit: {'; '.join(reasons)}.")
        return body

    def _free(self, data: Any, contenttype: str) -> bytes:
        """A payload that no schema describes; what is announced as JSON is JSON all the same."""
        if data is None:
            return b""
        if isinstance(data, Auto):
            return b"{}"
        if isinstance(data, bytes) or (isinstance(data, str) and not (contenttype and is_json(contenttype))):
            body = data if isinstance(data, bytes) else _text(data)
        else:
            try:
                return msgspec.json.encode(data)
            except UNWRITABLE as error:
                raise self._unwritable(error) from None
        if body and contenttype and is_json(contenttype) and not is_json_text(body):
            raise self._refused(f"the data is not JSON, as {contenttype} demands: {shorten(body, 60)!r}.")
        return body

    def _violations(self, schema: PayloadSchema, body: bytes, contenttype: str) -> list[Violation]:
        value, violations = schema.validate(body, contenttype)
        if not violations and self._fill is not None:
            try:
                self._fill(value)
            except ColumnMismatch as error:
                return [Violation(error.at, "column_mismatch", error.expected, error.found)]
        return violations

    def _encoded(self, schema: PayloadSchema, data: Any, contenttype: str) -> bytes:
        try:
            return schema.encode(data, contenttype)
        except SchemaRefused as error:
            place = f"{self.definition.xid}{error.place}"
            raise MakeRefused(error.sentence, place=place, remedy=error.remedy) from None
        except UNWRITABLE as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: Exception) -> MakeRefused:
        return self._refused(f"the data cannot be written: {error}.")

    def _invented(self, schema: PayloadSchema, rng: random.Random) -> Any:
        try:
            return sample_value(schema, rng)
        except SchemaRefused as error:
            raise self._refused(error.sentence, error.remedy) from None

    def _refused(self, sentence: str, remedy: str = "") -> MakeRefused:
        return MakeRefused(sentence, place=self.definition.xid, remedy=remedy)


def _written(data: Any) -> bytes | None:
    try:
        return msgspec.json.encode(data)
    except UNWRITABLE:
        return None


def is_json_text(body: bytes) -> bool:
    """Whether bytes are a JSON value."""
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _read_json(data: bytes) -> Any:
    return msgspec.json.decode(data) if is_json_text(data) else None


def _text(data: str) -> bytes:
    return data.encode(errors="replace")
