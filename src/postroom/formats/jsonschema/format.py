"""The format JSON Schema, validated by jsonschema-rs."""

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
from postroom.formats.column_types import ColumnType, as_text
from postroom.formats.jsonschema import columns
from postroom.formats.jsonschema.compat.compare import readable
from postroom.formats.jsonschema.compile_validator import ValidatorCompiler
from postroom.formats.jsonschema.drafts import draft_of_document
from postroom.formats.jsonschema.evaluate import MOST_VIOLATIONS, Evaluator, OutOfSteps, can_evaluate
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.samples import sample_values
from postroom.formats.jsonschema.schema_addresses import Located
from postroom.formats.jsonschema.typed_decoder import MemberDecoder, build_decoder, build_member_decoder
from postroom.formats.jsonschema.unreadable_payloads import SHALLOW, TOO_DEEP, deeper, is_text, may_be_deep, unreadable
from postroom.formats.jsonschema.validation_cost import estimate_cost
from postroom.formats.jsonschema.validator_panics import is_panic, panics_as
from postroom.formats.jsonschema.violations import first_line, too_costly, unexplained, violation_of_error
from postroom.formats.jsonschema.work_bounds import document_extent, work_of
from postroom.formats.schema import SchemaDocument, Violation
from postroom.formats.schema_id_framing import JsonFraming
from postroom.formats.schema_text import load_json
from postroom.formats.undeclared_members import Undeclared

__all__ = ["JsonSchema", "check", "parse", "readable"]

# The largest payload, in bytes, whose violations are all listed.
_LARGE = 50_000
_FEW_JUDGEMENTS = 1_000
# Bytes of payloads times subschemas.
_MOST_COPIES = 10_000_000
_decode = msgspec.json.Decoder().decode


class JsonSchema(JsonFraming):
    """One parsed JSON Schema: a whole document, or the part of it that a fragment picks."""

    def __init__(self, documents: DocumentSet, fragment: str = "", *, assert_formats: bool = False) -> None:
        self.document = documents.root
        self._documents = documents
        self._asserts_formats = assert_formats
        # Before the validator sees the schema: compiling takes work as well.
        work = work_of(documents, documents.start())
        self._compiler = ValidatorCompiler(documents, assert_formats=assert_formats)
        self._validator = self._compiler.compile_document()
        self._start = documents.start()
        if fragment:
            reference, self._start = _picked(documents, fragment)
            work = work_of(documents, self._start)
            self._validator = self._compiler.compile_reference(reference)
        self._is_valid = self._validator.is_valid
        self._cost = estimate_cost(documents, self._start, work)
        self._short = self._cost.cheap_length
        self._size, branches = document_extent(documents)
        # The validator's errors of alternatives hold all errors of each, and those of a schema that leads to the same
        # place in many ways are exponentially many.
        self._lists_errors = not branches and work.entries <= 1 and work.judgements <= _FEW_JUDGEMENTS

    def full_name(self) -> str:
        """The title, by which schema registries know a JSON Schema."""
        title = self._start[0].get("title") if isinstance(self._start[0], dict) else None
        return title if isinstance(title, str) else ""

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
            if len(payload) > self._short and not self._cost.affordable(payload, value):
                return value, self._evaluate(value, len(payload))
            return value, [] if self._is_valid(value) else self._violations(value, len(payload))
        except BaseException as error:
            if not isinstance(error, ValueError | RecursionError) and not is_panic(error):
                raise
            return None, [Violation("", "payload_too_complex", "a value that can be judged", first_line(error))]

    def has_fast_path(self, contenttype: str) -> bool:
        """Whether `fill` takes payloads of this content type: all are JSON."""
        return True

    def fill(self, payload: bytes) -> tuple[Any, bool]:
        """Decode a valid payload into the form of its columns in one pass, and True; (None, False) when it needs
        `validate`.

        The value is what `fill_columns.filler(columns())` makes of the validated one, without absent members.
        """
        if self._decode_columns is None or (len(payload) > SHALLOW and may_be_deep(payload)) or not is_text(payload):
            return None, False
        try:
            return self._decode_columns(payload), True
        except (ValueError, RecursionError):
            return None, False

    def fill_all(self, payloads: Sequence[Any], fallback: set[int]) -> list[Any] | MemberColumns:
        """Fill the columns of many payloads; the indexes of those that need `validate` are added to `fallback`."""
        fast = self._decode_columns
        if fast is None:
            fallback.update(range(len(payloads)))
            return [None] * len(payloads)
        payloads = _readable(payloads)
        if self._member_decoder is not None:
            return self._member_decoder.decode_all(payloads, fallback)
        return decode_all(fast, payloads, fallback)

    def fill_all_and_undeclared(
        self, payloads: Sequence[Any], fallback: set[int], undeclared: dict[int, str]
    ) -> list[Any] | MemberColumns:
        """`fill_all` that also collects the undeclared members of payloads, by index."""
        strict = self._strict_member_decoder
        if strict is None:
            found = self.fill_all(payloads, fallback)
            self._undeclared.find_all(payloads, fallback, undeclared)
            return found
        # Where nothing is undeclared, which is usual, that costs nothing: a strict decoder accepts what fits.
        payloads = _readable(payloads)
        refused: set[int] = set()
        values = decode_all(strict.decode, payloads, refused)
        for index in tuple(refused):
            values[index] = self._decode_leniently(payloads[index])
            if values[index] is None:
                continue
            refused.discard(index)
            members = self._undeclared.extract(payloads[index])
            if members is not None:
                undeclared[index] = members
        fallback |= refused
        return strict.members(values, refused)

    def _decode_leniently(self, payload: Any) -> Any:
        """Decode a payload that the strict decoder refused; None where the other one refuses it as well."""
        try:
            return None if self._member_decoder is None else self._member_decoder.decode(payload)
        except (ValueError, RecursionError):
            return None

    def undeclared(self, payload: bytes, contenttype: str = "") -> str | None:
        """The undeclared members of a valid payload as JSON; None for none."""
        return self._undeclared.find(payload)

    def encode(self, value: Any, contenttype: str = "") -> bytes:
        """The value as compact JSON."""
        return msgspec.json.encode(value)

    @functools.cached_property
    def _decode_columns(self) -> Callable[[bytes], Any] | None:
        return None if self._asserts_formats else build_decoder(self._documents, self._start, self._columns)

    @functools.cached_property
    def _member_decoder(self) -> MemberDecoder | None:
        return build_member_decoder(self._documents, self._start, self._columns)

    @functools.cached_property
    def _strict_member_decoder(self) -> MemberDecoder | None:
        if self._asserts_formats:
            return None
        return build_member_decoder(self._documents, self._start, self._columns, strict=True)

    @functools.cached_property
    def _undeclared(self) -> Undeclared:
        return Undeclared(self._columns)

    @functools.cached_property
    def _typed_columns(self) -> ColumnType:
        return columns.columns(self._documents, self._start)

    @functools.cached_property
    def _columns(self) -> ColumnType:
        return as_text(self._typed_columns)

    def columns(self) -> ColumnType:
        """The columns values of this schema fill."""
        return self._typed_columns

    def sample(self, rng: random.Random) -> Any:
        """A value that fits; SchemaRefused when none could be invented."""
        return sample_values.sample(self._documents, self._start, rng, self._fits)

    def _fits(self, value: Any) -> bool:
        payload = self.encode(value)
        with panics_as(ValueError("the validator gave up")):
            if not self._cost.affordable(payload, value):
                return not self._evaluate(value, len(payload))
            return bool(self._is_valid(value))

    @functools.cached_property
    def _evaluator(self) -> Evaluator | None:
        return Evaluator(self._documents, self._compiler) if can_evaluate(self._documents) else None

    def _evaluate(self, value: Any, length: int) -> list[Violation]:
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
            return [violation_of_error(error) for error in itertools.islice(errors, MOST_VIOLATIONS)]
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return [violation_of_error(error)]
        raise AssertionError("a value that failed once did not fail again")

    def _explained(self, value: Any, length: int) -> list[Violation]:
        if self._evaluator is None:
            return [unexplained(length)]
        try:
            return self._evaluator.violations(self._start, value) or [unexplained(length)]
        except OutOfSteps:
            return [unexplained(length)]


def _readable(payloads: Sequence[Any]) -> Sequence[Any]:
    """Replace payloads that may be too deep, or are not UTF-8, by empty ones, which no decoder accepts."""
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
    documents = DocumentSet(document, draft_of_document(document, source.version), source.library)
    return JsonSchema(documents, source.fragment.removeprefix("#"), assert_formats=source.assert_formats)


def check(source: SchemaDocument) -> None:
    """Raise SchemaRefused unless the document is a JSON Schema."""
    parse(source)


def _picked(documents: DocumentSet, fragment: str) -> tuple[str, Located]:
    """The reference that a fragment means, and where it leads: a JSON pointer, with or without its first slash, or the
    name of an anchor."""
    escaped = quote(fragment, safe="/~!$&'()*+,;=:@%?")
    for reference in (f"#{escaped}", f"#/{escaped}"):
        found = documents.resolve(reference, documents.address)
        if found is not None:
            if not isinstance(found[0], dict | bool):
                raise SchemaRefused(f"the fragment {fragment!r} leads to something that is not a schema.")
            return reference, found
    raise SchemaRefused(f"the fragment {fragment!r} leads nowhere in this document.")
