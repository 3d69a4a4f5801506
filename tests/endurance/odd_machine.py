"""`postroom` on a machine with a slow disk, or with a clock that somebody sets.

CLOCK_FILE names a file with the seconds by which the clock is wrong; COMMIT_SECONDS is how long a commit takes.
"""

from __future__ import annotations

import datetime
import os
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import postroom.http.server.app  # noqa: F401  # what it needs is loaded before the clock is put wrong
from postroom.cli.main import run


class WrongDatetime(datetime.datetime):
    """What the wrong clock shows."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> WrongDatetime:
        """The wrong time."""
        return super().now(tz) + datetime.timedelta(seconds=error())


class SlowConnection(sqlite3.Connection):
    """A database on a slow disk."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Wait for the disk before a commit."""
        if sql == "COMMIT":
            time.sleep(float(os.environ["COMMIT_SECONDS"]))
        return super().execute(sql, *values)


def error() -> float:
    """By how many seconds the clock is wrong."""
    return float(Path(os.environ["CLOCK_FILE"]).read_text() or 0)


def put_clock_wrong() -> None:
    """From now on everything of ours reads the wrong clock."""
    right = time.time
    time.time = lambda: right() + error()
    for name, module in list(sys.modules.items()):
        if name.startswith("postroom.") and getattr(module, "datetime", None) is datetime.datetime:
            module.datetime = WrongDatetime  # type: ignore[attr-defined]


def slow_down() -> None:
    """From now on commits of SQLite are slow."""
    connect = sqlite3.connect

    def connect_slowly(*arguments: Any, **options: Any) -> sqlite3.Connection:
        return connect(*arguments, **{"factory": SlowConnection, **options})

    sqlite3.connect = connect_slowly  # type: ignore[assignment]


if "CLOCK_FILE" in os.environ:
    put_clock_wrong()
if "COMMIT_SECONDS" in os.environ:
    slow_down()
if __name__ == "__main__":
    run()
