"""JSON Schema judged by jsonschema-rs."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.batch_decode import MemberColumns, decode_all
from postroom.formats.column_types import ColumnType
from postroom.formats.jsonschema import columns
from postroom.formats.jsonschema.compat.compare import readable
from postroom.formats.jsonschema.compile_validator import Compiler
from postroom.formats.jsonschema.drafts import draft_of
from postroom.formats.jsonschema.evaluate import MOST_FINDINGS, Evaluator, OutOfSteps, can_evaluate
from postroom.formats.jsonschema.panics import is_panic, panics_as
from postroom.formats.jsonschema.referenced_documents import Documents
from postroom.formats.jsonschema.samples import sample_values
from postroom.formats.jsonschema.schema_addresses import Located
from postroom.formats.jsonschema.typed_decoder import FastMembers, fast_decoder, fast_members
from postroom.formats.jsonschema.unreadable_payloads import SHALLOW, TOO_DEEP, deeper, is_text, may_be_deep, unreadable
from postroom.formats.jsonschema.validation_cost import costs_of
from postroom.formats.jsonschema.violations import first_line, too_costly, unexplained, violation
from postroom.formats.jsonschema.work_bounds import extent, work_of
from postroom.formats.schema import SchemaDocument, Violation
from postroom.formats.schema_id_framing import JsonFraming
from postroom.formats.schema_text import load_json
from postroom.formats.undeclared_members import Undeclared

__all__ = ["JsonSchema", "check", "parse", "readable"]

# Payloads, in bytes, that all violations are found of.
_LARGE = 50_000
_FEW_JUDGEMENTS = 1_000
# Bytes of payloads times subschemas.
_MOST_COPIES = 10_000_000
_decode = msgspec.json.Decoder().decode


class JsonSchema(JsonFraming):
    """One parsed JSON Schema: a whole document, or the part of it that a fragment picks."""

    def __init__(self, documents: Documents, fragment: str = "", *, assert_formats: bool = False) -> None:
        self.document = documents.root
        self._documents = documents
        self._asserts_formats = assert_formats
        # Before the validator sees the schema: compiling takes work as well.
        work = work_of(documents, documents.start())
        self._compiler = Compiler(documents, assert_formats=assert_formats)
        self._validator = self._compiler.whole()
        self._start = documents.start()
        if fragment:
            reference, self._start = _picked(documents, fragment)
            work = work_of(documents, self._start)
            self._validator = self._compiler.part(reference)
        self._is_valid = self._validator.is_valid
        self._costs = costs_of(documents, self._start, work)
        self._short = self._costs.short
        self._size, branches = extent(documents)
        # The validator's errors of alternatives hold all errors of each, and those of a schema that leads to the same
        # place in many ways are exponentially many.
        self._lists_errors = not branches and work.entries <= 1 and work.judgements <= _FEW_JUDGEMENTS

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Decode and validate a payload; of equal keys in an object the last one counts."""
        try:
            # Not orjson: it turns integers beyond 64 bits into floats, and free-form parts must keep every digit.
            value = _decode(payload)
            if len(payload) > SHALLOW and may_be_deep(payload) and deeper(value):
                return None, [TOO_DEEP]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return None, [unreadable(payload, error)]
        try:
            if len(payload) > self._short and not self._costs.affordable(payload, value):
                return value, self._judged_slowly(value, len(payload))
            return value, [] if self._is_valid(value) else self._violations(value, len(payload))
        except BaseException as error:
            if not isinstance(error, ValueError | RecursionError) and not is_panic(error):
                raise
            return None, [Violation("", "payload_too_complex", "a value that can be judged", first_line(error))]

    def has_fast_path(self, contenttype: str) -> bool:
        """Whether `fill` is for payloads of this content type: all are JSON."""
        return True

    def fill(self, payload: bytes) -> tuple[Any, bool]:
        """Decode a valid payload into the form of its columns in one pass, and True; (None, False) when it needs
        `validate`.

        The value is what `fill_columns.filler(columns())` makes of the validated one, without absent members.
        """
        if self._fast is None or (len(payload) > SHALLOW and may_be_deep(payload)) or not is_text(payload):
            return None, False
        try:
            return self._fast(payload), True
        except (ValueError, RecursionError):
            return None, False

    def fill_all(self, payloads: Sequence[Any], fallback: set[int]) -> list[Any] | MemberColumns:
        """Fill the columns of many payloads; the indexes of those that need `validate` are added to `fallback`."""
        fast = self._fast
        if fast is None:
            fallback.update(range(len(payloads)))
            return [None] * len(payloads)
        payloads = _readable(payloads)
        if self._fast_members is not None:
            return self._fast_members.decode_all(payloads, fallback)
        return decode_all(fast, payloads, fallback)

    def fill_all_and_undeclared(
        self, payloads: Sequence[Any], fallback: set[int], undeclared: dict[int, str]
    ) -> list[Any] | MemberColumns:
        """`fill_all` that also puts what columns do not hold into `undeclared`, by place."""
        strict = self._strict_members
        if strict is None:
            found = self.fill_all(payloads, fallback)
            self._undeclared.find_all(payloads, fallback, undeclared)
            return found
        # Where nothing is undeclared, which is the rule, that costs nothing: a strict decoder takes what fits.
        payloads = _readable(payloads)
        refused: set[int] = set()
        values = decode_all(strict.decode, payloads, refused)
        for place in tuple(refused):
            values[place] = self._read_leniently(payloads[place])
            if values[place] is None:
                continue
            refused.discard(place)
            left = self._undeclared.extract(payloads[place])
            if left is not None:
                undeclared[place] = left
        fallback |= refused
        return strict.members(values, refused)

    def _read_leniently(self, payload: Any) -> Any:
        """A payload that a strict decoder refused; None where the other one refuses it as well."""
        try:
            return None if self._fast_members is None else self._fast_members.decode(payload)
        except (ValueError, RecursionError):
            return None

    def undeclared(self, payload: bytes, contenttype: str = "") -> str | None:
        """What a valid payload has and its columns do not, as JSON text; None for nothing."""
        return self._undeclared.find(payload)

    def encode(self, value: Any, contenttype: str = "") -> bytes:
        """The value as compact JSON."""
        return msgspec.json.encode(value)

    @functools.cached_property
    def _fast(self) -> Callable[[bytes], Any] | None:
        return None if self._asserts_formats else fast_decoder(self._documents, self._start, self._columns)

    @functools.cached_property
    def _fast_members(self) -> FastMembers | None:
        return fast_members(self._documents, self._start, self._columns)

    @functools.cached_property
    def _strict_members(self) -> FastMembers | None:
        if self._asserts_formats:
            return None
        return fast_members(self._documents, self._start, self._columns, strict=True)

    @functools.cached_property
    def _undeclared(self) -> Undeclared:
        return Undeclared(self._columns)

    @functools.cached_property
    def _columns(self) -> ColumnType:
        return columns.columns(self._documents, self._start)

    def columns(self) -> ColumnType:
        """The columns values of this schema fill."""
        return self._columns

    def sample(self, rng: random.Random) -> Any:
        """A value that fits; SchemaRefused when none could be invented."""
        return sample_values.sample(self._documents, self._start, rng, self._fits)

    def _fits(self, value: Any) -> bool:
        payload = self.encode(value)
        with panics_as(ValueError("the validator gave up")):
            if not self._costs.affordable(payload, value):
                return not self._judged_slowly(value, len(payload))
            return bool(self._is_valid(value))

    @functools.cached_property
    def _evaluator(self) -> Evaluator | None:
        return Evaluator(self._documents, self._compiler) if can_evaluate(self._documents) else None

    def _judged_slowly(self, value: Any, length: int) -> list[Violation]:
        if self._evaluator is None:
            return [too_costly(length)]
        try:
            return self._evaluator.violations(self._start, value)
        except OutOfSteps:
            return [too_costly(length)]

    def _violations(self, value: Any, length: int) -> list[Violation]:
        if not self._lists_errors:
            return self._explained(value, length)
        # The validator collects all errors before it shows the first, each with a copy of what it is about.
        if length <= _LARGE and length * self._size <= _MOST_COPIES:
            errors = self._validator.iter_errors(value)
            return [violation(error) for error in itertools.islice(errors, MOST_FINDINGS)]
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return [violation(error)]
        raise AssertionError("a value that failed once did not fail again")

    def _explained(self, value: Any, length: int) -> list[Violation]:
        if self._evaluator is None:
            return [unexplained(length)]
        try:
            return self._evaluator.violations(self._start, value) or [unexplained(length)]
        except OutOfSteps:
            return [unexplained(length)]


def _readable(payloads: Sequence[Any]) -> Sequence[Any]:
    """Payloads for the short way. Nothing at all is no JSON either: what may be too deep, or is no text, is left to
    `validate`."""
    if max(map(len, payloads), default=0) > SHALLOW:
        payloads = [b"" if may_be_deep(bytes(payload)) else payload for payload in payloads]
    if not is_text(b"\n".join(payloads)):
        payloads = [payload if is_text(bytes(payload)) else b"" for payload in payloads]
    return payloads


def parse(source: SchemaDocument) -> JsonSchema:
    """The schema, ready for payloads; `format` is asserted only when asked for."""
    document = load_json(source.document)
    if not isinstance(document, dict | bool):
        raise SchemaRefused("a JSON Schema is an object or a boolean.")
    documents = Documents(document, draft_of(document, source.version), source.library)
    return JsonSchema(documents, source.fragment.removeprefix("#"), assert_formats=source.assert_formats)


def check(source: SchemaDocument) -> None:
    """Raise SchemaRefused unless the document is a JSON Schema."""
    parse(source)


def _picked(documents: Documents, fragment: str) -> tuple[str, Located]:
    """The reference that a fragment means, and where it leads: a JSON pointer, with or without its first slash, or the
    name of an anchor."""
    escaped = quote(fragment, safe="/~!$&'()*+,;=:@%?")
    for reference in (f"#{escaped}", f"#/{escaped}"):
        found = documents.follow(reference, documents.address)
        if found is not None:
            if not isinstance(found[0], dict | bool):
                raise SchemaRefused(f"the fragment {fragment!r} leads to something that is not a schema.")
            return reference, found
    raise SchemaRefused(f"the fragment {fragment!r} leads nowhere in this document.")
