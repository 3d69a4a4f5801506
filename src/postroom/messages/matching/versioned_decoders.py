"""Payload decoders for schemas with several versions, any of which may have written a payload."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import Raw

from postroom.formats.batch_decode import MemberColumns
from postroom.formats.fill_columns import ColumnMismatch, Filler
from postroom.formats.schema import FastFramedReader, FramedSchema, Violation
from postroom.formats.schema_versions import HEADER_FIRST_BYTES, Versions, WriterVersion
from postroom.messages.matching.payload_decoders import ExactDecoder, Kept, QuickDecoder, Writers, bytes_of

_MOST_HEADERS = 50
_BEGINNINGS = frozenset((*HEADER_FIRST_BYTES, "\0"))


class _Framed(NamedTuple):
    """A payload behind a header."""

    position: int
    body: bytes
    start: int
    contenttype: str
    writer: WriterVersion


class _Alike(NamedTuple):
    """Payloads that one version wrote, by their indexes; what they say begins at the same place."""

    writer: WriterVersion
    start: int
    indexes: list[int]


class _Part(NamedTuple):
    """Some values, and their indexes among all."""

    indexes: Sequence[int]
    values: list[Any] | MemberColumns


class VersionDecoder:
    """Decodes payloads as they stand by another decoder, and those with a header by the version that wrote them."""

    def __init__(
        self, versions: Versions, reader: FramedSchema, bare: QuickDecoder | ExactDecoder, fill: Filler
    ) -> None:
        self._versions = versions
        self._reader = reader
        self._bare = bare
        self._fill = fill

    def all(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept = None
    ) -> list[Any] | MemberColumns:
        """The values of many payloads; the indexes of those for the exact judge are added to `bad`."""
        if bodies and type(bodies[0]) is Raw:  # JSON within JSON
            return self._bare.all(bodies, contenttypes, bad, writers, kept)
        if self._versions.headers_first or (bodies and _begins(bodies[0])):
            return self._headers_first(bodies, contenttypes, bad, writers, kept)
        fallback = set(bad)
        values = self._bare.all(bodies, contenttypes, fallback, writers, kept)
        if len(fallback) == len(bad):
            return values
        framed = self._framed(sorted(fallback - bad), bodies, contenttypes, bad)
        bad |= fallback.difference(one.position for some in framed.values() for one in some)
        if not framed:
            return values
        parts = [_Part(range(len(bodies)), values)]
        return self._placed(framed, parts, len(bodies), bad, writers, kept)

    def _headers_first(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept
    ) -> list[Any] | MemberColumns:
        listed = self._listed(bodies)
        if listed is not None:
            return self._by_header(listed, bodies, contenttypes, bad, writers, kept)
        framed = self._framed(range(len(bodies)), bodies, contenttypes, bad)
        if not framed:
            return self._bare.all(bodies, contenttypes, bad, writers, kept)
        apart = {one.position for some in framed.values() for one in some}
        if len(framed) == 1 and len(apart) == len(bodies):
            return self._behind(next(iter(framed.values())), bad, writers, kept)
        rest = [index for index in range(len(bodies)) if index not in apart and index not in bad]
        parts = [_Part(rest, self._rest(rest, bodies, contenttypes, bad, kept))] if rest else []
        return self._placed(framed, parts, len(bodies), bad, writers, kept)

    def _rest(
        self, rest: list[int], bodies: Sequence[Any], contenttypes: list[str], bad: set[int], kept: Kept
    ) -> list[Any] | MemberColumns:
        """The values of payloads without headers."""
        fallback: set[int] = set()
        values = self._some([bodies[p] for p in rest], [contenttypes[p] for p in rest], rest, fallback, kept)
        bad.update(rest[number] for number in fallback)
        return values

    def _some(
        self, bodies: list[Any], contenttypes: list[str], indexes: list[int], fallback: set[int], kept: Kept
    ) -> list[Any] | MemberColumns:
        """The values of some payloads without headers; what their columns do not hold is kept by their indexes."""
        mine: Kept = None if kept is None else {}
        values = self._bare.all(bodies, contenttypes, fallback, {}, mine)
        if kept is not None and mine:
            kept.update((indexes[number], left) for number, left in mine.items())
        return values

    def _listed(self, bodies: Sequence[Any]) -> list[_Alike] | None:
        """The payloads by their headers, if each has one whose id a version lists, and there are few."""
        if not bodies or set(map(type, bodies)) != {bytes}:
            return None
        length = self._versions.header_length
        headers = [body[:length] for body in bodies]
        distinct = set(headers)
        if len(distinct) > _MOST_HEADERS:
            return None
        found: list[_Alike] = []
        indexes: dict[bytes, list[int]] = {}
        for header in distinct:
            plan = self._versions.plan_for_header(header)
            if plan is None or plan.writer is None:
                return None
            found.append(_Alike(plan.writer, plan.start, indexes.setdefault(header, [])))
        for index, header in enumerate(headers):
            indexes[header].append(index)
        return found

    def _by_header(
        self,
        listed: list[_Alike],
        bodies: Sequence[bytes],
        contenttypes: list[str],
        bad: set[int],
        writers: Writers,
        kept: Kept,
    ) -> list[Any] | MemberColumns:
        """The values of payloads that all have headers with listed ids."""
        parts = []
        for alike in listed:
            writers.update(dict.fromkeys(alike.indexes, alike.writer))
            some = list(map(bodies.__getitem__, alike.indexes))
            types = list(map(contenttypes.__getitem__, alike.indexes))
            parts.append(_Part(alike.indexes, self._written(alike, some, types, bad, kept)))
        return parts[0].values if len(parts) == 1 else _joined(parts, len(bodies), bad)

    def _framed(
        self, indexes: Iterable[int], bodies: Sequence[Any], contenttypes: list[str], bad: set[int]
    ) -> dict[str, list[_Framed]]:
        """The payloads behind headers, by the version that wrote them."""
        framed: dict[str, list[_Framed]] = {}
        for index in indexes:
            if not _begins(bodies[index]) or index in bad:
                continue
            body, contenttype = bytes_of(bodies[index]), contenttypes[index]
            writer, start, problem = self._versions.read_plan(body, contenttype)
            if writer is not None:
                framed.setdefault(writer.version, []).append(_Framed(index, body, start, contenttype, writer))
            elif problem is not None:
                bad.add(index)
        return framed

    def _placed(
        self,
        framed: dict[str, list[_Framed]],
        parts: list[_Part],
        count: int,
        bad: set[int],
        writers: Writers,
        kept: Kept,
    ) -> list[Any] | MemberColumns:
        """The values of payloads with headers and of the others, each at its index."""
        parts += [_Part([o.position for o in some], self._behind(some, bad, writers, kept)) for some in framed.values()]
        return _joined(parts, count, bad)

    def _behind(self, some: list[_Framed], bad: set[int], writers: Writers, kept: Kept) -> list[Any] | MemberColumns:
        """The values of payloads that one version wrote."""
        writers.update((one.position, one.writer) for one in some)
        if len({one.start for one in some}) > 1:
            return [self._read(one, bad, kept) for one in some]
        alike = _Alike(some[0].writer, some[0].start, [one.position for one in some])
        return self._written(alike, [one.body for one in some], [one.contenttype for one in some], bad, kept)

    def _written(
        self, alike: _Alike, bodies: list[bytes], contenttypes: list[str], bad: set[int], kept: Kept
    ) -> list[Any] | MemberColumns:
        """The values of payloads that one version wrote, all with as long a header."""
        if alike.writer.version != self._versions.own:
            return self._resolved(alike, bodies, contenttypes, bad, kept)
        start, strip = alike.start, self._reader.strip_header
        bare = [strip(body, start) for body in bodies]
        fallback = {number for number, body in enumerate(bare) if body is None} if None in bare else set()
        values = self._some([body or b"" for body in bare], contenttypes, alike.indexes, fallback, kept)
        bad.update(alike.indexes[number] for number in fallback)
        return values

    def _resolved(
        self, alike: _Alike, bodies: list[bytes], contenttypes: list[str], bad: set[int], kept: Kept
    ) -> list[Any] | MemberColumns:
        """The values of payloads that another version wrote."""
        writer, start, indexes = alike
        reading = self._versions.framed_reader(writer)

        def framed(number: int) -> _Framed:
            return _Framed(indexes[number], bodies[number], start, contenttypes[number], writer)

        if not isinstance(reading, FastFramedReader) or not all(map(reading.has_fast_path, set(contenttypes))):
            return [self._read(framed(number), bad, kept) for number in range(len(bodies))]
        fallback: set[int] = set()
        values = reading.fill_all([body[start:] for body in bodies], fallback)
        if kept is not None and reading.may_drop():
            for number in range(len(bodies)):
                if number not in fallback:
                    self._kept(framed(number), None, kept)
        exact = {number: self._read(framed(number), bad, kept) for number in fallback}
        if all(value is None for value in exact.values()):  # as a rule, what is left to the exact reader is wrong
            return values
        return [exact[number] if number in exact else values[number] for number in range(len(bodies))]

    def _read(self, one: _Framed, bad: set[int], kept: Kept) -> Any:
        reading = self._versions.framed_reader(one.writer)
        if not isinstance(reading, Violation):
            value, violations = reading.validate_framed(one.body, one.start, one.contenttype)
            try:
                if not violations:
                    return self._kept(one, self._fill(value), kept)
            except ColumnMismatch:
                pass
        bad.add(one.position)
        return None

    def _kept(self, one: _Framed, value: Any, kept: Kept) -> Any:
        if kept is not None:
            left = self._versions.undeclared_framed(one.body, one.start, one.contenttype, one.writer)
            if left is not None:
                kept[one.position] = left
        return value


def _joined(parts: list[_Part], count: int, bad: set[int]) -> list[Any] | MemberColumns:
    """The values of parts, each at its index; of an index that two parts have the last one counts."""
    columns = [(part.indexes, part.values) for part in parts if isinstance(part.values, MemberColumns)]
    if len(columns) == len(parts) and len({part.names for _, part in columns}) == 1:
        return MemberColumns.of_parts(columns, count)
    found: list[Any] = [None] * count
    for indexes, values in parts:
        for number, index in enumerate(indexes):
            found[index] = None if index in bad else values[number]
    return found


def _begins(body: Any) -> bool:
    """Whether a payload begins like a header."""
    return type(body) is not Raw and body[:1] in _BEGINNINGS
