"""What goes wrong while a value is read or written, with the way that leads to it."""

from __future__ import annotations

from postroom.formats.schema import Violation
from postroom.model.json_pointers import pointer


class Misfit(Exception):
    """A value that does not fit its type; containers add the steps to it, from the inside out."""

    def __init__(self, code: str, expected: str, found: str) -> None:
        super().__init__(code, expected, found)
        self.code = code
        self.expected = expected
        self.found = found
        self.steps: list[str | int] = []

    def violation(self) -> Violation:
        """The violation, with the JSON pointer of the value."""
        return Violation(pointer(reversed(self.steps)), self.code, self.expected, self.found)

    def __str__(self) -> str:
        return f"{pointer(reversed(self.steps)) or 'it'} must be {self.expected} but is {self.found}"
