"""Differences of types: where one accepts what another may refuse, and values that may show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from postroom.formats.jsonstructure.types import JsonType
from postroom.formats.work_budget import spend

_MOST_COUNTEREXAMPLES = 12


class TypeDifference(msgspec.Struct, frozen=True):
    """A rule that does not prove the writer's type readable, and JSON values of the writer that might be refused."""

    reason: str
    writer_at: str
    reader_at: str
    counterexamples: tuple[Any, ...] = ()

    def around(self, wrap: Callable[[Any], Any]) -> TypeDifference:
        """This difference in a container of the values."""
        wrapped = tuple(wrap(one) for one in self.counterexamples)
        spend(1 + sum(map(_width, wrapped)))
        return msgspec.structs.replace(self, counterexamples=wrapped)


def _width(value: Any) -> int:
    return len(value) // 20 if isinstance(value, dict | list) else 0


def difference(
    reason: str, writer: JsonType, reader: JsonType, counterexamples: Iterable[Any] = ()
) -> list[TypeDifference]:
    """One difference, as the list that comparing returns."""
    kept = tuple(counterexamples)[:_MOST_COUNTEREXAMPLES]
    return [TypeDifference(reason, writer.at, reader.at, kept)]
