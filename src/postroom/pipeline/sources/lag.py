"""Lag: what of a source is still to do, as its progress is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


class Lag(msgspec.Struct, frozen=True):
    """Records that wait, or files (with their bytes) where only reading tells how many records are in them."""

    records: int = 0
    files: int = 0
    bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.records or self.files)

    def __str__(self) -> str:
        if self.records:
            return f"{self.records:,} behind"
        return f"{self.files:,} {'file' if self.files == 1 else 'files'} ({sized(self.bytes)}) to do"


# By what people call the parts of a source: topics, or the name of a folder.
Lags = Mapping[str, Lag]


class Reached(msgspec.Struct, frozen=True):
    """How far Spark has come with a source, in its own terms.

    `end` and `latest` are offsets: of what was sorted last and of what there is. `checkpoint` is where Spark notes what
    a stream has taken. `share` tells how much of the batch at work is done; with none at work it is all of it.
    """

    end: str = ""
    latest: str = ""
    checkpoint: Path | None = None
    share: float = 1.0


def sized(count: int) -> str:
    """`512 B`, `3.4 MB`: bytes for people."""
    size, unit = float(count), 0
    # What would be shown as 1000 of a unit is 1 of the next.
    while size >= 999.95 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{count} B"
