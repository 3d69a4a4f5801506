"""What is wrong with a payload, collected while it is judged."""

from __future__ import annotations

from typing import Any

from postroom.formats.schema import Violation
from postroom.formats.show_value import show_value
from postroom.model.json_pointers import pointer

# Where a value lies: the place of its container and the step from there; None is the payload itself.
Place = tuple[Any, object] | None

MOST_FINDINGS = 20
ATTEMPTS, ATTEMPTS_PER_BYTE = 10_000, 20


class TooMuchWork(Exception):
    """The payload sends alternatives through more attempts than we make."""


class Findings:
    """Violations, at most a screenful, and the number of attempts that alternatives still have."""

    __slots__ = ("attempts", "violations")

    def __init__(self, attempts: int = ATTEMPTS) -> None:
        self.violations: list[Violation] = []
        self.attempts = attempts

    def add(self, place: Place, code: str, expected: str, value: Any) -> None:
        """Note that a value is not what was expected."""
        if len(self.violations) < MOST_FINDINGS:
            if value is None and code == "payload_type":
                code = "null_not_allowed"
            self.violations.append(Violation(_pointer(place), code, expected, show_value(value)))

    def extend(self, others: Findings) -> None:
        """Note what an alternative noted."""
        self.violations.extend(others.violations[: MOST_FINDINGS - len(self.violations)])

    def attempt(self) -> Findings:
        """A fresh collection for one alternative, on the same budget."""
        self.attempts -= 1
        if self.attempts < 0:
            raise TooMuchWork
        return Findings(self.attempts)

    def settle(self, tried: Findings) -> None:
        """Count what an alternative used up."""
        self.attempts = tried.attempts


def _pointer(place: Place) -> str:
    steps: list[object] = []
    while place is not None:
        place, step = place
        steps.append(step)
    return pointer(reversed(steps))
