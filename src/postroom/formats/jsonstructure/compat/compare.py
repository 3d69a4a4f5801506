"""Whether one schema reads what another writes: rules for yes, a payload for no, else undecided with a reason."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.compatibility import COMPATIBLE
from postroom.formats.jsonstructure.compat.containment import ComparisonTooLarge, TypeComparison
from postroom.formats.jsonstructure.compat.differences import TypeDifference
from postroom.formats.jsonstructure.document import StructureDocument
from postroom.formats.jsonstructure.samples.sample_values import SampleGenerator
from postroom.formats.jsonstructure.types import JsonAnyType, JsonType
from postroom.formats.jsonstructure.validation.validate import Checks
from postroom.formats.jsonstructure.validation.violations import ATTEMPTS, TooMuchWork, ViolationCollector
from postroom.formats.schema import Verdict, Violation
from postroom.formats.show_value import show_value
from postroom.formats.work_budget import spend

_SEED = 2026
_SAMPLES = 40
_MOST_TRIED = 400


class ComparableSchema(Protocol):
    """What comparing needs of a parsed schema."""

    document: StructureDocument
    root: JsonType

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Decode and validate a payload."""
        ...


def compare(writer: ComparableSchema, reader: ComparableSchema) -> Verdict:
    """The verdict on two schemas. A no is always a payload that both validators have seen."""
    if writer.document == reader.document and writer.root.at == reader.root.at:
        return COMPATIBLE
    # Always the same payloads: the same question gets the same answer.
    generator = SampleGenerator(writer.root, random.Random(_SEED))  # noqa: S311 - nothing secret
    try:
        differences = TypeComparison(_generating(generator), _accepting()).differences(writer.root, reader.root)
    except (ComparisonTooLarge, RecursionError):
        differences = [
            TypeDifference("the schemas are too large to be compared type by type", writer.root.at, reader.root.at)
        ]
    if writer.document.offers != reader.document.offers:
        differences.append(TypeDifference("the schemas offer different add-ins", "/$offers", "/$offers"))
    for found in [
        *differences,
        TypeDifference("a payload shows it", writer.root.at, reader.root.at, tuple(_samples(generator, writer))),
    ]:
        for value in found.counterexamples[:_MOST_TRIED]:
            payload = _payload(value)
            spend(1 + len(payload or b"") // 20)
            if payload is not None and _refuted(writer, reader, payload):
                return _incompatible(found, reader, payload)
    if not differences:
        return COMPATIBLE
    return Verdict(
        answer="undecided",
        reason=f"{differences[0].reason}, and no payload was found that shows a difference.",
        writer_at=differences[0].writer_at,
        reader_at=differences[0].reader_at,
    )


def _refuted(writer: ComparableSchema, reader: ComparableSchema, payload: bytes) -> bool:
    return not writer.validate(payload)[1] and bool(reader.validate(payload)[1])


def _incompatible(found: TypeDifference, reader: ComparableSchema, payload: bytes) -> Verdict:
    violation = reader.validate(payload)[1][0]
    where = f" at {violation.at}" if violation.at else ""
    return Verdict(
        answer="incompatible",
        reason=f"{found.reason}: the reader expects {violation.expected}{where}.",
        writer_at=found.writer_at,
        reader_at=found.reader_at,
        counterexample=payload,
        shown=show_value(msgspec.json.decode(payload)),
    )


def _payload(value: Any) -> bytes | None:
    try:
        return msgspec.json.encode(value)
    except (RecursionError, ValueError, msgspec.MsgspecError):
        return None


def _samples(generator: SampleGenerator, writer: ComparableSchema) -> list[Any]:
    found: list[Any] = []
    for number in range(_SAMPLES):
        made = _generated(generator, writer.root, 0.8 if number % 2 else 0.2)
        if not made:
            break  # too large, or nothing to generate
        found += made
    return found


def _generated(generator: SampleGenerator, type_: JsonType, likely: float) -> list[Any]:
    try:
        return [generator.generate(type_, likely)]
    except (SchemaRefused, RecursionError):
        return []


def _generating(generator: SampleGenerator) -> Callable[[JsonType], list[Any]]:
    def generate(type_: JsonType) -> list[Any]:
        if isinstance(type_, JsonAnyType) and type_.values is None:
            return [None, True, 7, 0.5, "?! ~", [], {}]
        return [value for likely in (0.0, 1.0, 0.5) for value in _generated(generator, type_, likely)]

    return generate


def _accepting() -> Callable[[JsonType, Any], bool]:
    checks = Checks()

    def accepts(type_: JsonType, value: Any) -> bool:
        found = ViolationCollector()
        try:
            checks.of(type_)(value, None, found)
        except (RecursionError, TooMuchWork):
            return False
        finally:
            spend(1 + ATTEMPTS - found.attempts)
        return not found.violations

    return accepts
