"""Both judges on the same lines, in words that can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from postroom.messages.engine import Engine
from postroom.messages.matching.columnar import LandedEvents
from postroom.messages.matching.group_events import AlikeRecords, RecordColumns
from postroom.messages.matching.outcome import Match, Sorted
from postroom.messages.matching.transport_metadata import NO_TRANSPORT
from postroom.protocols.records import Record, parse_record


def judge_by_columns(engine: Engine, lines: list[bytes]) -> dict[int, Sorted]:
    """What the columnar judge accepts of lines, by row, in the words of the exact one.

    The transport of each is compared here.
    """
    groups: list[LandedEvents] = []
    left = [judged.row for judged in engine.judge(lines, groups.append)]
    found: dict[int, Sorted] = {}
    for landed in groups:
        xid = landed.definition.xid
        for place, row in enumerate(landed.rows):
            attributes = {name: column[place] for name, column in landed.attributes.items()}
            attributes |= landed.extensions.get(place, {})
            bound = {name: column[place] for name, column in landed.variables.items() if column[place] is not None}
            match = Match("landed", xid, bound, (xid,))
            metadata = {name: column[place] for name, column in landed.metadata.items()}
            shown = (match, landed.definition, without_nulls(attributes), metadata, landed.data[place], True)
            found[row] = Sorted(*shown, writer=landed.writers.get(place), undeclared=landed.undeclared.get(place))
            (exact,) = engine.sort_exactly(lines[row])
            transport = landed.transport[place] if landed.transport else NO_TRANSPORT
            assert (landed.protocol, transport) == (exact.protocol, exact.transport)
    assert sorted([*found, *left]) == list(range(len(lines)))
    return found


class KafkaColumns:
    """Records of Kafka in columns, in some parts, and as lines."""

    protocol = "KAFKA"

    def __init__(self, parts: list[RecordColumns], lines: list[bytes]) -> None:
        self._parts = parts
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def alike(self) -> Iterator[AlikeRecords]:
        for part in self._parts:
            kinds = set(part.attributes.get("type", [None]))
            yield AlikeRecords(part.attributes, kinds.pop() if len(kinds) == 1 else None, partial(_itself, part))

    def records(self, rows: list[int]) -> Iterator[tuple[bytes, Record]]:
        return ((self._lines[row], parse_record(self._lines[row])) for row in rows)


def _itself(part: RecordColumns) -> RecordColumns:
    return part


def comparable(result: Sorted) -> Sorted:
    """A result whose members that are null are absent, which is the same in a table."""
    return msgspec.structs.replace(result, data=without_nulls(result.data), protocol="", transport=NO_TRANSPORT)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
