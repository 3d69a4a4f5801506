"""The one interface of all payload schema formats."""

from __future__ import annotations

import random
from typing import Any, Protocol

import msgspec

from postroom.formats.columns import ColumnType


class Violation(msgspec.Struct, frozen=True):
    """One way in which a payload does not fit its schema."""

    at: str
    code: str
    expected: str
    found: str


class PayloadSchema(Protocol):
    """A parsed payload schema of any format."""

    def judge(self, payload: bytes) -> tuple[Any, list[Violation]]:
        """Decode a payload and validate it: the decoded value and no violations, or what does not fit."""
        ...

    def encode(self, value: Any) -> bytes:
        """The payload bytes of a Python value (not validated)."""
        ...

    def columns(self) -> ColumnType:
        """The table columns that values of this schema fill."""
        ...

    def sample(self, rng: random.Random) -> Any:
        """Invent a value that fits the schema."""
        ...
