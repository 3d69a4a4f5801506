"""JSON Structure: parse, check, compare."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.batch_decode import decode_all
from postroom.formats.column_types import ColumnType, as_text
from postroom.formats.fill_columns import ColumnMismatch
from postroom.formats.jsonstructure import columns, types
from postroom.formats.jsonstructure.build_types import Builder
from postroom.formats.jsonstructure.compat import compare
from postroom.formats.jsonstructure.document import StructureDocument, load_document
from postroom.formats.jsonstructure.encode import json_value
from postroom.formats.jsonstructure.fill_columns import column_filler
from postroom.formats.jsonstructure.samples import sample_values
from postroom.formats.jsonstructure.typed_decoder import NeedsValidation, build_decoder
from postroom.formats.jsonstructure.validation.validate import Checks
from postroom.formats.jsonstructure.validation.violations import (
    ATTEMPTS,
    ATTEMPTS_PER_BYTE,
    TooMuchWork,
    ViolationCollector,
)
from postroom.formats.schema import SchemaDocument, Verdict, Violation
from postroom.formats.schema_id_framing import JsonFraming
from postroom.formats.show_value import show_value
from postroom.formats.undeclared_members import Undeclared

_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_DECODER_REFUSES = (NeedsValidation, TooMuchWork, *_NOT_JSON)
_FILLER_REFUSES = (ColumnMismatch, *_DECODER_REFUSES)
_MOST_VARIANTS = 16
_TOO_DEEP = Violation("", "payload_too_deep", "less nested", "more than we follow")
_TOO_MUCH = Violation("", "payload_too_complex", "decidable with few attempts", "too many alternatives")


class JsonStructure(JsonFraming):
    """One parsed JSON Structure type."""

    def __init__(self, document: StructureDocument, root: types.JsonType, fragment: str = "") -> None:
        self.document = document
        self.root = root
        self._fragment = fragment
        self._checks = Checks()
        self._variants: dict[frozenset[str], JsonStructure] = {}

    @functools.cached_property
    def _decode_fast(self) -> Callable[[bytes], Any] | None:
        # A payload may ask for add-ins, and only the exact checks look for that.
        return None if self.document.offers else build_decoder(self.root, self._checks)

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Decode and validate a payload."""
        fast_decode = self._decode_fast
        if fast_decode is not None:
            try:
                return fast_decode(payload), []
            except _DECODER_REFUSES:
                pass  # the exact checks say why
        try:
            value = msgspec.json.decode(payload)
        except _NOT_JSON as error:
            return None, [Violation("", "payload_not_json", "JSON", str(error).splitlines()[0])]
        return self.validate_value(value, len(payload))

    def has_fast_path(self, contenttype: str) -> bool:
        """Whether `fill` takes payloads of this content type: all are JSON."""
        return True

    def fill(self, payload: bytes) -> tuple[Any, bool]:
        """Decode a valid payload into the form of its columns, and True; (None, False) when it needs `validate`.

        The value is what `fill_columns.filler(columns())` makes of the validated one, without absent members.
        """
        fill = self._filled
        if fill is None:
            return None, False
        try:
            return fill(payload), True
        except _FILLER_REFUSES:
            return None, False

    def fill_all(self, payloads: Sequence[Any], fallback: set[int]) -> list[Any]:
        """Fill the columns of many payloads; the indexes of those that need `validate` are added to `fallback`."""
        if self._filled is None:
            fallback.update(range(len(payloads)))
            return [None] * len(payloads)
        return decode_all(self._filled, payloads, fallback, _FILLER_REFUSES)

    def fill_all_and_undeclared(
        self, payloads: Sequence[Any], fallback: set[int], undeclared: dict[int, str]
    ) -> list[Any]:
        """`fill_all` that also collects the undeclared members of payloads, by index."""
        found = self.fill_all(payloads, fallback)
        self._undeclared.find_all(payloads, fallback, undeclared)
        return found

    def undeclared(self, payload: bytes, contenttype: str = "") -> str | None:
        """The undeclared members of a valid payload as JSON; None for none."""
        return self._undeclared.find(payload)

    def read_member(self, path: tuple[str, ...], value: Any) -> Any:
        """Decode a member of a payload, found by its path ("" for items and values of maps); ColumnMismatch where it
        does not fit its type."""
        type_: types.JsonType = self.root
        for step in path:
            real, _ = types.unwrapped(type_)
            if isinstance(real, types.JsonConditionalType) and real.base is not None:
                real, _ = types.unwrapped(real.base)
            if isinstance(real, types.JsonObjectType):
                type_ = real.members[step]
            elif isinstance(real, types.JsonArrayType | types.JsonMapType):
                type_ = real.items if isinstance(real, types.JsonArrayType) else real.values
        found = ViolationCollector(ATTEMPTS)
        decoded = self._checks.of(type_)(value, None, found)
        if found.violations:
            raise ColumnMismatch(found.violations[0].expected, found.violations[0].found)
        return decoded

    @functools.cached_property
    def _undeclared(self) -> Undeclared:
        return Undeclared(self._columns)

    @functools.cached_property
    def _filled(self) -> Callable[[bytes], Any] | None:
        fast_decode, finish = self._decode_fast, column_filler(self.root, as_text(self._columns))
        if fast_decode is None or finish is None:
            return fast_decode
        decode, complete = fast_decode, finish

        def fill(payload: bytes) -> Any:
            value = decode(payload)
            return None if value is None else complete(value)

        return fill

    def validate_value(self, value: Any, size: int = 0) -> tuple[Any, list[Violation]]:
        """Validate a parsed JSON value by the exact checks; large payloads may try more alternatives."""
        if self.document.offers and isinstance(value, dict) and "$uses" in value:
            return self._validate_with_addins(value, size)
        found = ViolationCollector(ATTEMPTS + size * ATTEMPTS_PER_BYTE)
        try:
            decoded = self._checks.of(self.root)(value, None, found)
        except RecursionError:
            return None, [_TOO_DEEP]
        except TooMuchWork:
            return None, [_TOO_MUCH]
        return (None, found.violations) if found.violations else (decoded, [])

    def _validate_with_addins(self, value: dict[str, Any], size: int) -> tuple[Any, list[Violation]]:
        used, offers = value["$uses"], self.document.offers
        if not isinstance(used, list) or not all(isinstance(name, str) and name in offers for name in used):
            return None, [Violation("/$uses", "payload_add_in", f"a list of {', '.join(offers)}", show_value(used))]
        names = frozenset(used)
        if names not in self._variants:
            addins = tuple(reference for name in sorted(names) for reference in offers[name])
            plain = msgspec.structs.replace(self.document, offers={})
            if len(self._variants) >= _MOST_VARIANTS:
                self._variants.clear()
            self._variants[names] = JsonStructure(plain, Builder(plain, addins).root(self._fragment))
        return self._variants[names].validate_value(value, size)

    def encode(self, value: Any, contenttype: str = "") -> bytes:
        """The value as compact JSON, in the spelling its types ask for."""
        return msgspec.json.encode(json_value(self.root, value, self._checks))

    @functools.cached_property
    def _columns(self) -> ColumnType:
        return columns.columns(self.root)

    def columns(self) -> ColumnType:
        """The columns values of this type fill."""
        return self._columns

    def sample(self, rng: random.Random) -> Any:
        """A value that fits; SchemaRefused when none could be invented."""
        return sample_values.sample(self.root, rng, self.validate_value)


def parse(source: SchemaDocument) -> JsonStructure:
    """The schema, ready for payloads."""
    try:
        document = load_document(source)
        return JsonStructure(document, Builder(document).root(source.fragment), source.fragment)
    except RecursionError:
        raise SchemaRefused("the document is nested too deeply.") from None


def check(source: SchemaDocument) -> None:
    """Raise SchemaRefused unless every type of the document is one that JSON Structure allows."""
    try:
        document = load_document(source)
        Builder(document).everything()
        for name, addins in document.offers.items():
            _check_addin(document, name, addins)
    except RecursionError:
        raise SchemaRefused("the document is nested too deeply.") from None


def _check_addin(document: StructureDocument, name: str, addins: tuple[str, ...]) -> None:
    try:
        Builder(document, addins).everything()
    except SchemaRefused as error:
        raise SchemaRefused(f"the add-in {name!r} cannot be used: {error.sentence}", place=error.place) from None


def readable(writer: SchemaDocument, reader: SchemaDocument) -> Verdict:
    """Whether every payload of the writer's type can be read with the reader's."""
    return compare.compare(parse(writer), parse(reader))
