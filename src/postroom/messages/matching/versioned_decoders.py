"""Payload decoders for schemas with several versions, any of which may have written a payload."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import Raw

from postroom.formats.batch_decode import MemberColumns
from postroom.formats.fill_columns import ColumnMismatch, Filler
from postroom.formats.schema import FramedSchema, Violation
from postroom.formats.schema_versions import HEADER_FIRST_BYTES, Versions, WriterVersion
from postroom.messages.matching.payload_decoders import ExactDecoder, Kept, QuickDecoder, Writers, bytes_of

_BEGINNINGS = frozenset((*HEADER_FIRST_BYTES, "\0"))


class _Framed(NamedTuple):
    """A payload behind a header."""

    position: int
    body: bytes
    start: int
    contenttype: str
    writer: WriterVersion


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
        found = [None if index in fallback else values[index] for index in range(len(bodies))]
        return self._placed(framed, found, bad, writers, kept)

    def _headers_first(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept
    ) -> list[Any] | MemberColumns:
        alike = self._alike(bodies)
        if alike is not None:
            writers.update(dict.fromkeys(range(len(bodies)), alike[0]))
            return self._bare.all(alike[1], contenttypes, bad, writers, kept)
        framed = self._framed(range(len(bodies)), bodies, contenttypes, bad)
        if not framed:
            return self._bare.all(bodies, contenttypes, bad, writers, kept)
        apart = {one.position for some in framed.values() for one in some}
        if len(framed) == 1 and len(apart) == len(bodies):
            return self._behind(next(iter(framed.values())), bad, writers, kept)
        rest = [index for index in range(len(bodies)) if index not in apart and index not in bad]
        fallback: set[int] = set()
        values = self._some([bodies[p] for p in rest], [contenttypes[p] for p in rest], rest, fallback, kept)
        bad.update(rest[number] for number in fallback)
        found: list[Any] = [None] * len(bodies)
        for number, index in enumerate(rest):
            found[index] = None if number in fallback else values[number]
        return self._placed(framed, found, bad, writers, kept)

    def _some(
        self, bodies: list[Any], contenttypes: list[str], indexes: list[int], fallback: set[int], kept: Kept
    ) -> list[Any] | MemberColumns:
        """The values of some payloads without headers; what their columns do not hold is kept by their indexes."""
        mine: Kept = None if kept is None else {}
        values = self._bare.all(bodies, contenttypes, fallback, {}, mine)
        if kept is not None and mine:
            kept.update((indexes[number], left) for number, left in mine.items())
        return values

    def _alike(self, bodies: Sequence[Any]) -> tuple[WriterVersion, list[Any]] | None:
        """The reader's own version and what stands behind the headers, if they are all alike and name that one."""
        if not bodies or type(bodies[0]) is not bytes:
            return None
        length = self._versions.header_length
        plan = self._versions.plan_for_header(bodies[0][:length])
        if plan is None or plan.writer is None or plan.writer.version != self._versions.own:
            return None
        if len({body[:length] for body in bodies}) > 1:
            return None
        bare, start = self._reader.strip_header, plan.start
        found = [bare(body, start) for body in bodies]
        return None if None in found else (plan.writer, found)

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
        self, framed: dict[str, list[_Framed]], found: list[Any], bad: set[int], writers: Writers, kept: Kept
    ) -> list[Any]:
        for some in framed.values():
            values = self._behind(some, bad, writers, kept)
            for number, one in enumerate(some):
                found[one.position] = None if one.position in bad else values[number]
        return found

    def _behind(self, some: list[_Framed], bad: set[int], writers: Writers, kept: Kept) -> list[Any] | MemberColumns:
        """The values of payloads that one version wrote."""
        writers.update((one.position, one.writer) for one in some)
        if some[0].writer.version != self._versions.own:
            return [self._read(one, bad, kept) for one in some]
        bare = [self._reader.strip_header(one.body, one.start) for one in some]
        fallback = {number for number, body in enumerate(bare) if body is None}
        indexes, types = [one.position for one in some], [one.contenttype for one in some]
        values = self._some([body or b"" for body in bare], types, indexes, fallback, kept)
        bad.update(some[number].position for number in fallback)
        return values

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


def _begins(body: Any) -> bool:
    """Whether a payload begins like a header."""
    return type(body) is not Raw and body[:1] in _BEGINNINGS
