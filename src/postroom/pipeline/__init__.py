"""Spark: from a mixed stream to one Delta table per message definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postroom.pipeline.ledger import LedgerEntry as LedgerEntry
    from postroom.pipeline.sorting import sort as sort

__all__ = ["LedgerEntry", "sort"]


def __getattr__(name: str) -> Any:
    # Spark, Arrow and Delta are optional and slow to import: only who sorts pays for them.
    if name == "sort":
        from postroom.pipeline.sorting import sort

        return sort
    if name == "LedgerEntry":
        from postroom.pipeline.ledger import LedgerEntry

        return LedgerEntry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
