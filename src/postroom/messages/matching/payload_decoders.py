"""Payload decoders: many payloads of one definition in the shape of its columns, for the columnar judge.

A body is bytes, a string, or raw JSON that is part of an event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, Protocol

from postroom.deadlines import check_deadline
from postroom.formats.batch_decode import MemberColumns, decode_all
from postroom.formats.fill_columns import ColumnMismatch, Filler
from postroom.formats.schema import CheckingSchema, FastOpenSchema, FastSchema, Violation
from postroom.formats.schema_versions import WriterVersion

Judge = Callable[[bytes, str], tuple[Any, list[Violation]]]
Undeclared = Callable[[bytes, str], str | None]
Writers = dict[int, WriterVersion]
"""The versions that wrote payloads, by the indexes of those payloads; only payloads behind a header have one."""
Kept = dict[int, str] | None
"""What payloads have and their columns do not, by index; None where nobody keeps it."""
_BETWEEN_LOOKS_AT_THE_CLOCK = 64


class Decoder(Protocol):
    """How the payloads of one definition become values of its columns."""

    def all(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept = None
    ) -> list[Any] | MemberColumns:
        """The values of many payloads; indexes of those for the exact judge are added to `bad`, which are passed over.

        Who wrote payloads behind a header is added to `writers`, what payloads have and their columns do not to `kept`,
        where that is given.
        """
        ...


class ExactDecoder:
    """Judges every payload by its schema."""

    def __init__(self, judge: Judge, fill: Filler, undeclared: Undeclared | None = None) -> None:
        self._judge = judge
        self._fill = fill
        self._undeclared = undeclared

    def all(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept = None
    ) -> list[Any]:
        """The values of many payloads; the indexes of those that do not fit are added to `bad`."""
        judge, fill = self._judge, self._fill
        undeclared = self._undeclared if kept is not None else None
        values: list[Any] = []
        for index, (body, contenttype) in enumerate(zip(bodies, contenttypes, strict=True)):
            values.append(None)
            if index in bad:
                continue
            if index % _BETWEEN_LOOKS_AT_THE_CLOCK == 0:
                check_deadline()
            value, violations = judge(bytes_of(body), contenttype)
            if violations:
                bad.add(index)
                continue
            try:
                values[index] = fill(value)
            except ColumnMismatch:
                bad.add(index)
                continue
            left = None if undeclared is None else undeclared(bytes_of(body), contenttype)
            if kept is not None and left is not None:
                kept[index] = left
        return values


class QuickDecoder:
    """Takes the fast path of a schema, for content types that have one."""

    def __init__(self, schema: FastSchema, exact: ExactDecoder) -> None:
        self._is_quick = schema.has_fast_path
        self._fill = schema.fill
        self._fill_all = schema.fill_all
        self._fill_all_keeping = schema.fill_all_and_undeclared if isinstance(schema, FastOpenSchema) else None
        self._exact = exact

    def all(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept = None
    ) -> list[Any] | MemberColumns:
        """The values of many payloads; the indexes of those for the exact judge are added to `bad`."""
        if not all(map(self._is_quick, set(contenttypes))):
            return self._exact.all(bodies, contenttypes, bad, writers, kept)
        if bodies and type(bodies[0]) is str:
            bodies = list(map(bytes_of, bodies))
        if kept is None or self._fill_all_keeping is None:
            return self._fill_all(bodies, bad)
        return self._fill_all_keeping(bodies, bad, kept)


class PlainDecoder:
    """Payloads that no schema describes: their bytes, or their text."""

    def __init__(self, *, text: bool) -> None:
        self._text = text

    def all(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept = None
    ) -> list[Any]:
        """Payloads as columns hold them; the indexes of those for the exact judge are added to `bad`."""
        if bodies and type(bodies[0]) is str and self._text:
            return list(bodies)
        try:
            return list(map(str, bodies, repeat("utf-8"))) if self._text else list(map(bytes_of, bodies))
        except (UnicodeDecodeError, TypeError):  # no text, or text already
            return decode_all(_text if self._text else bytes_of, bodies, bad, (UnicodeDecodeError,))


class CheckingDecoder:
    """Checks payloads and gives no values, for those who only ask which definition messages fit."""

    def __init__(self, schema: CheckingSchema) -> None:
        self._accepts_all = schema.accepts_all

    def all(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept = None
    ) -> list[Any]:
        """None for every payload; the indexes of those that do not surely fit are added to `bad`."""
        for contenttype in set(contenttypes):
            indexes = [index for index, one in enumerate(contenttypes) if one == contenttype and index not in bad]
            fallback: set[int] = set()
            self._accepts_all([bytes_of(bodies[index]) for index in indexes], contenttype, fallback)
            bad.update(indexes[number] for number in fallback)
        return [None] * len(bodies)


def bytes_of(body: Any) -> bytes:
    """A body as bytes."""
    return body.encode() if type(body) is str else bytes(body)


def _text(body: Any) -> str:
    return body if type(body) is str else str(body, "utf-8")
