"""Spark: from a mixed stream to one Delta table per message definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postroom.pipeline.dead_letters.replay import replay as replay
    from postroom.pipeline.lake.backfill_rescued import backfill as backfill
    from postroom.pipeline.lake.ledger import LedgerEntry as LedgerEntry
    from postroom.pipeline.python_api import sort as sort
    from postroom.pipeline.python_api import sorter as sorter
    from postroom.pipeline.spark.data_source import SortSink as SortSink

__all__ = ["LedgerEntry", "SortSink", "backfill", "replay", "sort", "sorter"]


def __getattr__(name: str) -> Any:
    # Spark, Arrow and Delta are optional and slow to import: only who sorts pays for them.
    if name in ("sort", "sorter"):
        from postroom.pipeline import python_api

        return getattr(python_api, name)
    if name == "SortSink":
        from postroom.pipeline.spark.data_source import SortSink

        return SortSink
    if name == "replay":
        from postroom.pipeline.dead_letters.replay import replay

        return replay
    if name == "backfill":
        from postroom.pipeline.lake.backfill_rescued import backfill

        return backfill
    if name == "LedgerEntry":
        from postroom.pipeline.lake.ledger import LedgerEntry

        return LedgerEntry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
