"""A worker's batch: as many records as it holds at a time, with where each came from.

A batch is as large as memory allows, for each makes a file of every table. Events are gathered by type from all over
their records, which is quickest where those are near at hand: a batch is judged slice by slice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import pyarrow as pa

from postroom.messages.engine import Engine
from postroom.messages.matching.columnar import EventGroup
from postroom.messages.matching.outcome import Sorted

SLICE_ROWS = 150_000

# Of each slice the events by definition, for the columnar judge, and the rows of all other records.
Slices = Iterator[tuple[list[EventGroup], list[int]]]


class WorkerBatch(Protocol):
    """Records in memory, and where each came from."""

    @property
    def sources(self) -> list[str]:
        """The files or streams."""
        ...

    @property
    def positions(self) -> list[int]:
        """The positions there."""
        ...

    @property
    def ids(self) -> list[str] | None:
        """The ids of the records, where they came with some."""
        ...

    @property
    def transport(self) -> Mapping[str, pa.Array]:
        """Columns of tables that the columns of all records give, for groups that have no list of them."""
        ...

    def event_groups(self, engine: Engine) -> Slices:
        """The events that may be judged by column, by definition, and the rows of the other records."""
        ...

    def sort_exactly(self, engine: Engine, rows: list[int]) -> Iterator[tuple[bytes, list[Sorted]]]:
        """Judge records one by one, rows in order, each with its line of JSON: the exact bytes, if it came as such."""
        ...


def shift_rows(slices: Slices, start: int) -> Slices:
    """Count the rows of a slice from the beginning of its batch."""
    for groups, rest in slices:
        if start:
            for group in groups:
                group.rows = [start + row for row in group.rows]
        yield groups, [start + row for row in rest]
