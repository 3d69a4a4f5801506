"""A worker's batch: as many records as it holds at a time, with where each came from.

A batch is as large as memory allows, for each makes a file of every table. Events are gathered by type from all over
their records, which is quickest where those are near at hand: a batch is judged slice by slice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import pyarrow as pa

from postroom.messages.matching.group_events import ColumnSlice

SLICE_ROWS = 150_000


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

    def exact(self, rows: pa.Array | None) -> dict[str, pa.Array]:
        """The records of some rows, or of all, as they came: in the column of `_records` that has such."""
        ...

    def slices(self) -> Iterable[tuple[int, list[bytes] | ColumnSlice]]:
        """What is judged together, as lines of JSON or in columns, and the first row of each."""
        ...
