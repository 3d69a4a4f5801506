"""Progress of a run for whoever watches: one line on a terminal, nothing on a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from postroom.pipeline.ledger import LedgerEntry

STARTING = "starting Spark, which takes some seconds"


class Progress:
    """Tells after each batch how far a run is: messages per second, landed, dead, and how far each source is behind.

    Use it as a context and call `report` with the ledger entry of each batch. Where nobody watches it only counts.
    """

    def __init__(
        self, stream: TextIO | None = None, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self._shown = not quiet and self._stream.isatty()
        self._clock = clock
        self._began = self._last = clock()
        self._bar: Any = None
        self._task: Any = None
        self.read = 0
        self.landed = 0
        self.dead = 0
        self.batches = 0

    def __enter__(self) -> Progress:
        if self._shown:
            self._show()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Tell what goes on where there are no numbers yet."""
        if self._bar is not None:
            self._bar.update(self._task, description=text)

    def report(self, batch: LedgerEntry, lag: Mapping[str, int]) -> None:
        """Take in a batch that is in the lake; `lag` has for each source how many records wait."""
        now = self._clock()
        rate = batch.read / max(now - self._last, 0.001)
        self._last = now
        self.read += batch.read
        self.landed += sum(batch.landed.values())
        self.dead += sum(batch.dead.values())
        self.batches += 1
        self.say(self._line(rate, lag))

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._began

    def _line(self, rate: float, lag: Mapping[str, int]) -> str:
        counts = f"{self.read:,} read, {self.landed:,} landed, {self.dead:,} dead, {rate:,.0f}/s"
        behind = ", ".join(f"{source} {count:,} behind" for source, count in lag.items() if count)
        return f"{counts}, {behind}" if behind else counts

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        # Markup would take the brackets in the name of a source for a style.
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        self._bar = Bar(*columns, console=Console(file=self._stream), transient=True)
        self._task = self._bar.add_task(STARTING, total=None)
        self._bar.start()
