"""The violations of a payload, collected while it is validated."""

from __future__ import annotations

from typing import Any

from postroom.formats.schema import Violation
from postroom.formats.show_value import show_value
from postroom.model.json_pointers import pointer

# The path of a value: that of its container and the step from there; None for the payload itself.
InstancePath = tuple[Any, object] | None

MOST_VIOLATIONS = 20
ATTEMPTS, ATTEMPTS_PER_BYTE = 10_000, 20


class TooMuchWork(Exception):
    """The payload needs more attempts at alternatives than we make."""


class ViolationCollector:
    """Violations, at most a screenful, and the number of attempts that alternatives still have."""

    __slots__ = ("attempts", "violations")

    def __init__(self, attempts: int = ATTEMPTS) -> None:
        self.violations: list[Violation] = []
        self.attempts = attempts

    def add(self, path: InstancePath, code: str, expected: str, value: Any) -> None:
        """Add a violation: a value is not what was expected."""
        if len(self.violations) < MOST_VIOLATIONS:
            if value is None and code == "payload_type":
                code = "null_not_allowed"
            self.violations.append(Violation(_pointer(path), code, expected, show_value(value)))

    def extend(self, others: ViolationCollector) -> None:
        """Note what an alternative noted."""
        self.violations.extend(others.violations[: MOST_VIOLATIONS - len(self.violations)])

    def attempt(self) -> ViolationCollector:
        """A fresh collection for one alternative, on the same budget."""
        self.attempts -= 1
        if self.attempts < 0:
            raise TooMuchWork
        return ViolationCollector(self.attempts)

    def settle(self, tried: ViolationCollector) -> None:
        """Count what an alternative used up."""
        self.attempts = tried.attempts


def _pointer(path: InstancePath) -> str:
    steps: list[object] = []
    while path is not None:
        path, step = path
        steps.append(step)
    return pointer(reversed(steps))
