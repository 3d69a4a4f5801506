"""Groups of events: many records put together by the definition they mean, for the columnar judge.

Records that are alike are read together, a step at a time for all of them; the others one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec.structs import astuple

from postroom.formats.batch_decode import DECODE_ERRORS, decode_all
from postroom.messages.matching.columnar import EventGroup, Plan, join_groups
from postroom.messages.matching.payload_decoders import Decoder
from postroom.messages.matching.record_readers import RECORD, EventReader
from postroom.messages.matching.transport_metadata import Transport, transport_reader
from postroom.protocols.cloudevents import body_type_counts, marks_event
from postroom.protocols.protocol_table import wire_named
from postroom.protocols.records import Record

MetadataOf = Callable[[int], dict[str, Any]]


class RowInfo(NamedTuple):
    """What is known of rows besides their events: their metadata, and what that carries, where it is known without
    asking for the metadata (and the definition declares nothing of it); `in_columns` says that it is in the columns
    that the rows came in."""

    metadata: MetadataOf
    transport: Callable[[int], Transport] | None = None
    in_columns: bool = False


# How lines name the type: as a member of an event, of an event within a text, or as a header.
_MARKERS = (b'"type"', b'\\"type\\"', b'_type"')
_MOST_SEEMING = 4
_FEWEST_TOGETHER = 2
_MOST_TOGETHER = 24

_version_of = attrgetter("specversion")
_headers_of = attrgetter("metadata.headers")
_payload_of = attrgetter("payload")
_stated_of = attrgetter("metadata.headers.datacontenttype")


class RecordColumns(msgspec.Struct, gc=False):
    """Records whose headers were read already: their rows, attributes by name, stated content types, bodies; those of
    odd indexes are left to the exact judge. What came with binary (or, for False, structured) events is in the columns
    that they came in, or `transport`; the metadata at an index is asked for only where a definition wants it, or where
    neither is so."""

    rows: list[int]
    attributes: dict[str, list[str | None]]
    contenttypes: list[str]
    bodies: list[bytes]
    metadata: MetadataOf
    odd: frozenset[int] = frozenset()
    transport: Callable[[bool], list[Transport] | None] = lambda _: None
    in_columns: Callable[[bool], bool] = lambda _: False


class AlikeRecords(NamedTuple):
    """Records whose headers carry the same attributes, and the same type, if one says it; the columns are read where
    the columnar judge can judge them."""

    attributes: Collection[str]
    type: str | None
    read: Callable[[], RecordColumns]


class ColumnSlice(Protocol):
    """Records in the columns of one protocol that are judged together."""

    protocol: str

    def __len__(self) -> int:
        """How many rows there are."""
        ...

    def alike(self) -> Iterable[AlikeRecords]:
        """The rows by their headers, without those that are best judged one by one."""
        ...

    def records(self, rows: list[int]) -> Iterable[tuple[bytes, Record]]:
        """Some rows as records, each with its line of JSON."""
        ...


def group_lines(events: EventReader, lines: list[bytes], longest: int) -> Iterator[EventGroup]:
    """Read lines and put those together that mean the same definition; those that mean none for sure are left out.

    Lines that are longer than the longest are left out too.
    """
    are_long = max(map(len, lines), default=0) > longest
    for rows in _alike(lines, _MOST_SEEMING * (len(events.index.filters) + 10)):
        grouping = _Grouping(events)
        grouping.add_lines([row for row in rows if len(lines[row]) <= longest] if are_long else rows, lines)
        yield from grouping.groups()


def _alike(lines: list[bytes], most: int) -> Iterable[list[int]]:
    """Rows that seem to be events of one type.

    They are dealt with together, so that all they are made of is near at hand in memory and gone before the next ones
    come. What they seem to be decides nothing.
    """
    seeming: dict[bytes, list[int]] = {}
    marker, at, start = _MARKERS[0], 0, len(_MARKERS[0])
    for row, line in enumerate(lines):
        if not line.startswith(marker, at):  # where it was in the line before
            at = line.find(marker)
            if at < 0:
                marker = next((one for one in _MARKERS if one in line), marker)
                at = line.find(marker)
            start = at + len(marker)
        event_type = line[start : line.find(b'"', start + 4)]
        if event_type in seeming:
            seeming[event_type].append(row)
        else:
            seeming[event_type] = [row]
    return seeming.values() if len(seeming) <= most else [list(range(len(lines)))]


def group_columns(events: EventReader, records: ColumnSlice, longest: int) -> Iterator[EventGroup]:
    """Group records whose headers are columns, as `group_lines` does; bodies may not be longer than the longest."""
    by_type: dict[str | None, list[AlikeRecords]] = {}
    for some in records.alike():
        if events.knows(some.attributes):
            by_type.setdefault(some.type, []).append(some)
    for event_type, several in by_type.items():
        if event_type is None or events.planned(records.protocol, event_type) is not None:
            found = (_group_alike(events, records.protocol, some.read(), longest) for some in several)
            yield from join_groups(itertools.chain.from_iterable(found))


def _group_alike(events: EventReader, protocol: str, records: RecordColumns, longest: int) -> list[EventGroup]:
    grouping = _Grouping(events)
    stated = records.contenttypes
    odd = records.odd
    if max(map(len, records.bodies), default=0) > longest:
        odd |= {row for row, body in enumerate(records.bodies) if len(body) > longest}
    columns = dict(records.attributes)
    if body_type_counts(wire_named(protocol), columns):
        own = columns.get("datacontenttype", itertools.repeat(None))
        known = (header or attribute for header, attribute in zip(stated, own, strict=False))
        columns["datacontenttype"] = list(stated if all(stated) else known)
    modes = {content_type: events.mode(content_type) for content_type in set(stated)}
    info = {mode: _row_info(records, binary=not mode) for mode in set(modes.values())}
    if not odd and set(info) == {"structured"}:
        grouping.add_structured(protocol, list(range(len(stated))), records.bodies, info["structured"])
    elif odd or set(info) != {""} or not grouping.add_columns(protocol, columns, records.bodies, info[""]):
        made = map(events.event, *(columns.get(name, itertools.repeat(None)) for name in events.names))
        for row, (event, body, content_type) in enumerate(zip(made, records.bodies, stated, strict=False)):
            mode = modes[content_type]
            if row in odd:
                continue
            if mode == "structured":
                grouping.add_structured(protocol, [row], [body], info[mode])
            elif not mode:
                grouping.add_binary(protocol, [row], [event], [body], info[mode])
    groups, rows = grouping.groups(), records.rows
    for group in groups:
        group.rows = rows if len(group.rows) == len(rows) else [rows[index] for index in group.rows]
    return groups


def _row_info(records: RecordColumns, *, binary: bool) -> RowInfo:
    if records.in_columns(binary):
        return RowInfo(records.metadata, in_columns=True)
    transport = records.transport(binary)
    return RowInfo(records.metadata, None if transport is None else transport.__getitem__)


def _columns_of(events: list[Any]) -> dict[str, Sequence[Any]] | None:
    """The members of events of one type, by column; None where one step for all of them does not pay."""
    types: set[Any] = set(map(type, events))
    fields = types.pop().__struct_fields__ if len(types) == 1 else ()
    if len(events) < _FEWEST_TOGETHER or len(fields) > _MOST_TOGETHER:
        return None
    return dict(zip(fields, zip(*map(astuple, events), strict=True), strict=False))


class _Grouping:
    """Events as they come, put together by protocol, type and mode."""

    def __init__(self, events: EventReader) -> None:
        self._events = events
        self._made: list[EventGroup] = []
        self._groups: dict[tuple[str, str | None, bool], EventGroup | None] = {}

    def groups(self) -> list[EventGroup]:
        """All groups."""
        return [*self._made, *(group for group in self._groups.values() if group is not None and group.rows)]

    def add_lines(self, rows: list[int], lines: list[bytes]) -> None:
        """Put the events of these rows of lines into their groups."""
        some = [lines[row] for row in rows]
        is_record = bool(some) and some[0].startswith(RECORD)
        undecoded: set[int] = set()
        found = decode_all(self._events.lines.read if is_record else self._events.read_event, some, undecoded)
        if undecoded:
            for index in sorted(undecoded):
                self._add_line(rows[index], some[index])
            keep = [one is not None for one in found]
            rows, found = list(compress(rows, keep)), list(compress(found, keep))
        if not is_record:
            self._add_all("", rows, found, None, None)
        elif not self._add_plain(rows, found, lines):
            general = self._events.lines.general
            for row, record in zip(rows, found, strict=True):
                if type(record) in general:
                    self._add_record(row, general[type(record)], record.metadata, record.payload)
                else:
                    self._add_line(row, lines[row])

    def _add_plain(self, rows: list[int], records: list[Any], lines: list[bytes]) -> bool:
        """Put records into their groups that are plain and have one protocol and one content type; False for others."""
        types = set(map(type, records))
        protocol = self._events.lines.plain.get(types.pop(), "") if len(types) == 1 else ""
        if not protocol:
            return False
        stated = set(map(_stated_of, records))
        mode = self._events.mode(stated.pop() or "") if len(stated) == 1 and "" not in stated else "unknown"
        if mode not in ("structured", ""):
            return False

        def metadata(row: int) -> dict[str, Any]:
            return self._events.lines.read_any(lines[row]).metadata

        transport = None
        if self._events.keeps_transport:
            keep = self._events.keeps_undeclared
            transport = self._events.lines.transport(records, binary=not mode, keep=keep)
        info = RowInfo(metadata, None if transport is None else dict(zip(rows, transport, strict=True)).__getitem__)
        if mode:
            self.add_structured(protocol, rows, map(_payload_of, records), info)
        else:
            events, bodies = list(map(_headers_of, records)), list(map(_payload_of, records))
            self.add_binary(protocol, rows, events, bodies, info)
        return True

    def _add_line(self, row: int, line: bytes) -> None:
        """Put the event of a line into its group, whatever the line looks like."""
        try:
            record = self._events.lines.read_any(line)
        except DECODE_ERRORS:
            return
        self._add_record(row, record.protocol, record.metadata, record.payload)

    def _add_record(self, row: int, protocol: str, metadata: dict[str, Any], payload: str) -> None:
        try:
            opened = self._events.opened(protocol, metadata, payload)
        except DECODE_ERRORS:
            return
        if opened is None:
            return
        event, structured = opened
        group = self._group(protocol, event.type, structured=structured)
        if group is None:
            return
        group.rows.append(row)
        group.events.append(event)
        if not structured:
            group.bodies.append(payload)
        self._add_metadata(group, metadata)

    def add_structured(self, protocol: str, rows: list[int], bodies: Iterable[Any], info: RowInfo) -> None:
        """Put events into their groups that are the bodies of records."""
        undecoded: set[int] = set()
        events = decode_all(self._events.read_event, bodies, undecoded)
        if undecoded:
            keep = [event is not None for event in events]
            rows, events = list(compress(rows, keep)), list(compress(events, keep))
        self._add_all(protocol, rows, events, None, info)

    def add_binary(self, protocol: str, rows: list[int], events: list[Any], bodies: list[Any], info: RowInfo) -> None:
        """Put events into their groups that are the headers of records."""
        marks = partial(marks_event, wire_named(protocol))
        if not all(map(marks, set(map(_version_of, events)))):
            keep = [marks(event.specversion) for event in events]
            rows, events = list(compress(rows, keep)), list(compress(events, keep))
            bodies = list(compress(bodies, keep))
        self._add_all(protocol, rows, events, bodies, info)

    def add_columns(self, protocol: str, columns: dict[str, list[Any]], bodies: list[Any], info: RowInfo) -> bool:
        """Make a group of columns, where all records are events of one type; False where they are not."""
        marks = partial(marks_event, wire_named(protocol))
        if not all(map(marks, set(columns.get("specversion", (None,))))):
            return False
        return self._make_group(protocol, list(range(len(bodies))), columns, bodies, info)

    def _make_group(
        self,
        protocol: str,
        rows: list[int],
        columns: Mapping[str, Sequence[Any]],
        bodies: list[Any] | None,
        info: RowInfo | None,
    ) -> bool:
        """Make a group of events that are columns already; False where they are not of one type."""
        types = set(columns.get("type", ()))
        if len(types) != 1:
            return False
        found = self._events.planned(protocol, types.pop())
        if found is None or (info is None and found[0].wants_metadata):
            return True
        group = self._new_group(protocol, *found, structured=bodies is None)
        group.rows, group.columns, group.bodies = rows, columns, bodies or []
        self._add_info(group, rows, info)
        self._made.append(group)
        return True

    def _add_all(
        self, protocol: str, rows: list[int], events: list[Any], bodies: list[Any] | None, info: RowInfo | None
    ) -> None:
        """Put events into their groups; those of structured mode have no bodies."""
        columns = _columns_of(events)
        if columns is not None and self._make_group(protocol, rows, columns, bodies, info):
            return
        for index, event in enumerate(events):
            body = None if bodies is None else bodies[index : index + 1]
            self._extend(protocol, event.type, rows[index : index + 1], [event], body, info)

    def _extend(
        self,
        protocol: str,
        event_type: str | None,
        rows: list[int],
        events: list[Any],
        bodies: list[Any] | None,
        info: RowInfo | None,
    ) -> None:
        group = self._group(protocol, event_type, structured=bodies is None)
        if group is None or (info is None and group.plan.wants_metadata):
            return
        group.rows += rows
        group.events += events
        group.bodies += bodies or ()
        self._add_info(group, rows, info)

    def _add_info(self, group: EventGroup, rows: list[int], info: RowInfo | None) -> None:
        """Add to a group what is known of some of its rows."""
        if info is None:
            return
        if info.in_columns and not group.plan.wants_metadata:
            group.transport = None
        elif info.transport is not None and group.transport is not None and not group.plan.wants_metadata:
            group.transport += map(info.transport, rows)
        elif group.transport is not None or group.plan.wants_metadata:
            for metadata in map(info.metadata, rows):
                self._add_metadata(group, metadata)

    def _add_metadata(self, group: EventGroup, metadata: dict[str, Any]) -> None:
        """Add to a group what metadata says."""
        if group.transport is not None:
            group.transport.append(group.read(metadata, not group.structured, group.keeps_undeclared))
        if group.plan.wants_metadata:
            group.metadata.append(metadata)

    def _group(self, protocol: str, event_type: str | None, *, structured: bool) -> EventGroup | None:
        key = (protocol, event_type, structured)
        if key not in self._groups:
            found = self._events.planned(protocol, event_type)
            self._groups[key] = None if found is None else self._new_group(protocol, *found, structured=structured)
        return self._groups[key]

    def _new_group(self, protocol: str, plan: Plan, decoder: Decoder, *, structured: bool) -> EventGroup:
        if not self._events.keeps_transport:
            return EventGroup(plan, decoder.all, structured, protocol=protocol, transport=None)
        keep = self._events.keeps_undeclared
        read = transport_reader(plan.definition, protocol).read
        return EventGroup(plan, decoder.all, structured, protocol=protocol, keeps_undeclared=keep, read=read)
