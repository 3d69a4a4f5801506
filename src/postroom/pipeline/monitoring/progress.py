"""Progress of a run for whoever watches: a line or two on a terminal, nothing on a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from postroom.pipeline.lake.ledger import LedgerEntry
    from postroom.pipeline.sources.lag import Lags

STARTING = "starting Spark, which takes some seconds"
SORTING = "sorting the first batch"


class Progress:
    """Tells how far a run is: messages read, landed, dead, per second, and what of each source is still to do.

    Use it as a context. Where nobody watches it only counts.
    """

    def __init__(
        self, stream: TextIO | None = None, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self.shown = not quiet and self._stream.isatty()
        self._clock = clock
        self._last = clock()
        self._rate = 0.0
        self._lags: Lags = {}
        self._away: set[str] = set()
        self._bar: Any = None
        self._task: Any = None
        self.read = 0
        self.landed = 0
        self.dead = 0
        self.batches = 0

    def __enter__(self) -> Progress:
        if self.shown:
            self._show()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Tell what goes on where there are no numbers yet."""
        if self._bar is not None:
            self._bar.update(self._task, description=text)

    def report(self, batch: LedgerEntry) -> None:
        """Take in a batch that is in the lake."""
        if batch.kind != "sort":
            return
        now = self._clock()
        self._rate = batch.read / max(now - self._last, 0.001)
        self._last = now
        self.read += batch.read
        self.landed += sum(batch.landed.values())
        self.dead += sum(batch.dead.values())
        self.batches += 1
        self.say(self._line())

    def behind(self, lags: Lags) -> None:
        """Take in what is still to do."""
        if not self._lags and not self.batches:
            # Until now Spark was starting, which says nothing about the speed of the first batch.
            self._last = self._clock()
        self._lags = {**self._lags, **lags}
        self.say(self._line())

    def away(self, source: str, is_away: bool) -> None:
        """Show that a source is waited for."""
        self._away = {*self._away, source} if is_away else self._away - {source}
        self.say(self._line())

    def _line(self) -> str:
        counts = f"{self.read:,} read, {self.landed:,} landed, {self.dead:,} dead, {self._rate:,.0f}/s"
        if not self.batches:
            counts = SORTING
        waiting = [f"{source} is away" for source in sorted(self._away)]
        behind = ", ".join([*waiting, *(f"{source} {lag}" for source, lag in self._lags.items() if lag)])
        # On a line of its own: one of 80 letters has no room for both.
        return f"{counts}\n{behind}" if behind else counts

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        # Markup would take the brackets in the name of a source for a style.
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        self._bar = Bar(*columns, console=Console(file=self._stream), transient=True)
        self._task = self._bar.add_task(STARTING, total=None)
        self._bar.start()
