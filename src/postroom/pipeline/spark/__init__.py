"""Spark: the session, its Java and jars, streams, and the data source that writes a lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postroom.pipeline.spark.session import spark_session as spark_session

__all__ = ["spark_session"]


def __getattr__(name: str) -> Any:
    # Imported on first use: Spark is optional and slow to import.
    if name == "spark_session":
        from postroom.pipeline.spark.session import spark_session

        return spark_session
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
