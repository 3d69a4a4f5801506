"""Parts of a haul: what is sorted by type is gathered from all over the records, so they had better be near at hand.

A haul is as large as a worker can hold, for every haul makes a file of every table; a processor is quickest with far
less.
"""

from __future__ import annotations

from collections.abc import Iterator

from postroom.messages.matching.columnar import EventGroup

AT_ONCE = 150_000

Parts = Iterator[tuple[list[EventGroup], list[int]]]


def shifted(parts: Parts, start: int) -> Parts:
    """The piles of a part and the rows that are left, counted from where the part starts in its haul."""
    for piles, left in parts:
        if start:
            for pile in piles:
                pile.rows = [start + row for row in pile.rows]
        yield piles, [start + row for row in left]
