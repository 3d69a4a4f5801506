"""Whether one schema reads what another writes: rules for yes, a payload for no, else a reason for doubt."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.compatibility import COMPATIBLE
from postroom.formats.jsonstructure.compat.containment import Comparison, TooLarge
from postroom.formats.jsonstructure.compat.differences import Gap
from postroom.formats.jsonstructure.document import Document
from postroom.formats.jsonstructure.samples.sample_values import Inventor
from postroom.formats.jsonstructure.types import Anything, Shape
from postroom.formats.jsonstructure.validation.validate import Checks
from postroom.formats.jsonstructure.validation.violations import ATTEMPTS, Findings, TooMuchWork
from postroom.formats.schema import Verdict, Violation
from postroom.formats.show_value import show_value
from postroom.formats.work_budget import spend

_SEED = 2026
_SAMPLES = 40
_MOST_TRIED = 400


class Schema(Protocol):
    """What comparing needs of a parsed schema."""

    document: Document
    root: Shape

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Decode and validate a payload."""
        ...


def compare(writer: Schema, reader: Schema) -> Verdict:
    """The verdict on two schemas. A no is always a payload that both validators have seen."""
    if writer.document == reader.document and writer.root.at == reader.root.at:
        return COMPATIBLE
    # Always the same payloads: the same question gets the same answer.
    inventor = Inventor(writer.root, random.Random(_SEED))  # noqa: S311 - nothing secret
    try:
        gaps = Comparison(_inventing(inventor), _accepting()).gaps(writer.root, reader.root)
    except (TooLarge, RecursionError):
        gaps = [Gap("the schemas are too large to be compared type by type", writer.root.at, reader.root.at)]
    if writer.document.offers != reader.document.offers:
        gaps.append(Gap("the schemas offer different add-ins", "/$offers", "/$offers"))
    for found in [*gaps, Gap("a payload shows it", writer.root.at, reader.root.at, tuple(_samples(inventor, writer)))]:
        for value in found.witnesses[:_MOST_TRIED]:
            payload = _payload(value)
            spend(1 + len(payload or b"") // 20)
            if payload is not None and _refuted(writer, reader, payload):
                return _incompatible(found, reader, payload)
    if not gaps:
        return COMPATIBLE
    return Verdict(
        answer="undecided",
        reason=f"{gaps[0].reason}, and no payload was found that shows a difference.",
        writer_at=gaps[0].writer_at,
        reader_at=gaps[0].reader_at,
    )


def _refuted(writer: Schema, reader: Schema, payload: bytes) -> bool:
    return not writer.validate(payload)[1] and bool(reader.validate(payload)[1])


def _incompatible(found: Gap, reader: Schema, payload: bytes) -> Verdict:
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


def _samples(inventor: Inventor, writer: Schema) -> list[Any]:
    found: list[Any] = []
    for number in range(_SAMPLES):
        made = _invented(inventor, writer.root, 0.8 if number % 2 else 0.2)
        if not made:
            break  # too large to be invented, or nothing to invent
        found += made
    return found


def _invented(inventor: Inventor, shape: Shape, likely: float) -> list[Any]:
    try:
        return [inventor.invent(shape, likely)]
    except (SchemaRefused, RecursionError):
        return []


def _inventing(inventor: Inventor) -> Callable[[Shape], list[Any]]:
    def invent(shape: Shape) -> list[Any]:
        if isinstance(shape, Anything) and shape.values is None:
            return [None, True, 7, 0.5, "?! ~", [], {}]
        return [value for likely in (0.0, 1.0, 0.5) for value in _invented(inventor, shape, likely)]

    return invent


def _accepting() -> Callable[[Shape, Any], bool]:
    checks = Checks()

    def accepts(shape: Shape, value: Any) -> bool:
        found = Findings()
        try:
            checks.of(shape)(value, None, found)
        except (RecursionError, TooMuchWork):
            return False
        finally:
            spend(1 + ATTEMPTS - found.attempts)
        return not found.violations

    return accepts
