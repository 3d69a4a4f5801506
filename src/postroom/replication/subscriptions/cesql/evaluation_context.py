"""One evaluation in progress: the event, the errors so far, and how much work is left."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from postroom.replication.subscriptions.cesql.errors import Failure, Kind, WorkExceeded
from postroom.replication.subscriptions.cesql.syntax_tree import Value

MOST_STEPS = 100_000
MOST_FAILURES = 20
LOWEST, HIGHEST = -(2**31), 2**31 - 1

_INTEGER = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)


class EvaluationContext:
    """What an evaluation sees and leaves behind."""

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self.attributes = attributes
        self.failures: list[Failure] = []
        self._steps = MOST_STEPS

    def spend(self, steps: int) -> None:
        """Pay for work that is about to be done."""
        self._steps -= steps
        if self._steps < 0:
            raise WorkExceeded

    def fail(self, kind: Kind, sentence: str) -> None:
        """Remember an error; the evaluation goes on with a value that stands for it."""
        if len(self.failures) < MOST_FAILURES:
            self.failures.append(Failure(kind, sentence))

    def cast(self, value: Value, kind: type[Value]) -> Any:
        """A value as another type (CESQL 3.7); where that cannot be, its zero value and an error."""
        if type(value) is kind:
            return value
        if kind is str:
            return ("true" if value else "false") if isinstance(value, bool) else str(value)
        if not isinstance(value, str):
            return kind(value)
        return self._integer(value) if kind is int else self._boolean(value)

    def in_range(self, value: int) -> int:
        """An integer if it has 32 bits, else 0 and an error."""
        if LOWEST <= value <= HIGHEST:
            return value
        self.fail("math", f"{value} is no integer of 32 bits")
        return 0

    def _integer(self, text: str) -> int:
        if _INTEGER.fullmatch(text) and LOWEST <= int(text) <= HIGHEST:
            return int(text)
        self.fail("cast", f"{text[:100]!r} is no integer")
        return 0

    def _boolean(self, text: str) -> bool:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        self.fail("cast", f"{text[:100]!r} is no boolean")
        return False
