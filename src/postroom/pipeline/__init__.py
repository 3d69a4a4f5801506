"""Spark: from a mixed stream to one Delta table per message definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postroom.pipeline.ledger import LedgerEntry as LedgerEntry
    from postroom.pipeline.replaying import replay as replay
    from postroom.pipeline.sink import SortSink as SortSink
    from postroom.pipeline.sorting import sort as sort
    from postroom.pipeline.sorting import sorter as sorter
    from postroom.pipeline.table_backfill import backfill as backfill

__all__ = ["LedgerEntry", "SortSink", "backfill", "replay", "sort", "sorter"]


def __getattr__(name: str) -> Any:
    # Spark, Arrow and Delta are optional and slow to import: only who sorts pays for them.
    if name in ("sort", "sorter"):
        from postroom.pipeline import sorting

        return getattr(sorting, name)
    if name == "SortSink":
        from postroom.pipeline.sink import SortSink

        return SortSink
    if name == "replay":
        from postroom.pipeline.replaying import replay

        return replay
    if name == "backfill":
        from postroom.pipeline.table_backfill import backfill

        return backfill
    if name == "LedgerEntry":
        from postroom.pipeline.ledger import LedgerEntry

        return LedgerEntry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
