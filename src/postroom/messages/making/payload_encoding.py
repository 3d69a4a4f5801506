"""Payloads of messages that are made: encoded as the content type says, and validated."""

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

_MAX_REASONS = 5


class Auto:
    """Stands for a payload that is sampled from the schema."""


AUTO = Auto()
ObjectEncoder = Callable[[Any], bytes | None]
"""It returns None where only `PayloadEncoder.encode` can tell."""

_ENCODE_ERRORS = (SchemaRefused, TypeError, ValueError, OverflowError, RecursionError)


class PayloadEncoder:
    """Encodes the payloads of one definition."""

    def __init__(self, definition: Definition, engine: Engine) -> None:
        self.definition = definition
        self._engine = engine

    @cached_property
    def schema(self) -> PayloadSchema | None:
        """The payload schema, if the definition has a usable one."""
        return self._engine.schema(self.definition)

    @cached_property
    def _fill(self) -> Filler | None:
        return None if self.schema is None else filler(self.schema.columns())

    @cached_property
    def _fast(self) -> FastSchema | None:
        schema: Any = self.schema
        return schema if isinstance(schema, FastSchema) and schema.has_fast_path(JSON_DATA) else None

    def object_encoder(self, contenttype: str) -> ObjectEncoder:
        """Return a fast function that encodes an object as JSON, as `encode` does for one content type."""
        schema, fast = self.schema, self._fast
        if not is_json(contenttype) or (schema is not None and fast is None):
            return lambda _data: None
        if schema is None or fast is None:
            return _encode_json
        encode, fill = schema.encode, fast.fill

        def encode_object(data: Any) -> bytes | None:
            try:
                payload = encode(data, contenttype)
            except _ENCODE_ERRORS:
                return None
            return payload if fill(payload)[1] else None

        return encode_object

    def encode(self, data: Any, contenttype: str, rng: random.Random) -> bytes:
        """Encode and validate a payload; MakeRefused names what does not fit."""
        if self.schema is None:
            return self._without_schema(data, contenttype)
        if data is None:
            raise self._refused("the definition needs data.", "Give some, or `auto` to invent it.")
        if isinstance(data, Auto):
            data = self._sampled(self.schema, rng)
        payload = data if isinstance(data, bytes) else self._encoded(self.schema, data, contenttype)
        if self._fast is not None and is_json(contenttype) and self._fast.fill(payload)[1]:
            return payload
        violations = self._violations(self.schema, payload, contenttype)
        if violations and isinstance(data, bytes) and not is_json(contenttype):
            # Payloads in a binary format or in XML may be given in JSON.
            value = _decode_json(data)
            if value is not None:
                payload = self._encoded(self.schema, value, contenttype)
                violations = self._violations(self.schema, payload, contenttype)
        if violations:
            reasons = [explain_reason(payload_reason(self.definition, v)) for v in violations[:_MAX_REASONS]]
            raise self._refused(f"the data does not fit: {'; '.join(reasons)}.")
        return payload

    def _without_schema(self, data: Any, contenttype: str) -> bytes:
        """Encode a payload that no schema describes; with a JSON content type it must still be JSON."""
        if data is None:
            return b""
        if isinstance(data, Auto):
            return b"{}"
        if isinstance(data, bytes) or (isinstance(data, str) and not (contenttype and is_json(contenttype))):
            payload = data if isinstance(data, bytes) else data.encode(errors="replace")
        else:
            try:
                return msgspec.json.encode(data)
            except _ENCODE_ERRORS as error:
                raise self._encode_error(error) from None
        if payload and contenttype and is_json(contenttype) and not is_json_value(payload):
            raise self._refused(f"the data is not JSON, as {contenttype} demands: {shorten(payload, 60)!r}.")
        return payload

    def _violations(self, schema: PayloadSchema, payload: bytes, contenttype: str) -> list[Violation]:
        value, violations = schema.validate(payload, contenttype)
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
            pointer = f"{self.definition.xid}{error.place}"
            raise MakeRefused(error.sentence, place=pointer, remedy=error.remedy) from None
        except _ENCODE_ERRORS as error:
            raise self._encode_error(error) from None

    def _encode_error(self, error: Exception) -> MakeRefused:
        return self._refused(f"the data cannot be written: {error}.")

    def _sampled(self, schema: PayloadSchema, rng: random.Random) -> Any:
        try:
            return sample_value(schema, rng)
        except SchemaRefused as error:
            raise self._refused(error.sentence, error.remedy) from None

    def _refused(self, sentence: str, remedy: str = "") -> MakeRefused:
        return MakeRefused(sentence, place=self.definition.xid, remedy=remedy)


def _encode_json(data: Any) -> bytes | None:
    try:
        return msgspec.json.encode(data)
    except _ENCODE_ERRORS:
        return None


def is_json_value(payload: bytes) -> bool:
    """Whether bytes are a JSON value."""
    try:
        msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _decode_json(data: bytes) -> Any:
    return msgspec.json.decode(data) if is_json_value(data) else None
