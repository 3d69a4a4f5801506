"""Where one type accepts what another may not, and values that may show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from postroom.formats.jsonstructure.types import Shape
from postroom.formats.work_budget import spend

_MOST_WITNESSES = 12


class Gap(msgspec.Struct, frozen=True):
    """A rule that does not prove the writer's type readable, and JSON values of the writer that might be refused."""

    reason: str
    writer_at: str
    reader_at: str
    witnesses: tuple[Any, ...] = ()

    def around(self, wrap: Callable[[Any], Any]) -> Gap:
        """The same gap, seen from the container of the value."""
        wrapped = tuple(wrap(one) for one in self.witnesses)
        spend(1 + sum(map(_width, wrapped)))
        return msgspec.structs.replace(self, witnesses=wrapped)


def _width(value: Any) -> int:
    return len(value) // 20 if isinstance(value, dict | list) else 0


def gap(reason: str, writer: Shape, reader: Shape, witnesses: Iterable[Any] = ()) -> list[Gap]:
    """One gap, as the list that comparing returns."""
    kept = tuple(witnesses)[:_MOST_WITNESSES]
    return [Gap(reason, writer.at, reader.at, kept)]
