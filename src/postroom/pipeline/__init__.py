"""Spark: from a mixed stream to one Delta table per message definition."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postroom.pipeline.dead_letters.replay import replay as replay
    from postroom.pipeline.lake.backfill_rescued import backfill as backfill
    from postroom.pipeline.lake.compaction import tidy as tidy
    from postroom.pipeline.lake.ledger import LedgerEntry as LedgerEntry
    from postroom.pipeline.python_api import sort as sort
    from postroom.pipeline.python_api import sorter as sorter
    from postroom.pipeline.records.erase import erase as erase
    from postroom.pipeline.records.kept_records import KeptRecord as KeptRecord
    from postroom.pipeline.records.kept_records import kept_records as kept_records
    from postroom.pipeline.records.reprocess import reprocess as reprocess
    from postroom.pipeline.spark.data_source import SortSink as SortSink

__all__ = [
    "KeptRecord",
    "LedgerEntry",
    "SortSink",
    "backfill",
    "erase",
    "kept_records",
    "replay",
    "reprocess",
    "sort",
    "sorter",
    "tidy",
]


# Spark, Arrow and Delta are optional and slow to import: only who sorts pays for them.
_MODULES = {
    "KeptRecord": "records.kept_records",
    "LedgerEntry": "lake.ledger",
    "SortSink": "spark.data_source",
    "backfill": "lake.backfill_rescued",
    "erase": "records.erase",
    "kept_records": "records.kept_records",
    "replay": "dead_letters.replay",
    "reprocess": "records.reprocess",
    "sort": "python_api",
    "sorter": "python_api",
    "tidy": "lake.compaction",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
