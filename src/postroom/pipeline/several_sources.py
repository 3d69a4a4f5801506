"""Several sources into one lake: one after the other, or followed side by side, each with a checkpoint of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from threading import Event, Thread

from msgspec.structs import replace

from postroom.errors import LakeRefused
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.sources.source import Source
from postroom.pipeline.summary import added_up

# Sorts one source until the event is set, or all is read.
SortOne = Callable[[Source, Event], LedgerEntry]


def check_different(sources: Sequence[Source]) -> None:
    """Refuse a source that is named twice: its records would be sorted twice."""
    names = [source.name for source in sources]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise LakeRefused("this source is named twice.", place=twice)


def sort_in_turn(sources: Sequence[Source], sort_one: SortOne, stop: Event) -> LedgerEntry:
    """Sort one source after the other, each with all cores."""
    return _together(sources, [sort_one(source, stop) for source in sources if not stop.is_set()])


def follow_together(sources: Sequence[Source], sort_one: SortOne, stop: Event) -> LedgerEntry:
    """Follow all sources until somebody says stop, or one of them fails: then the others end well, too."""
    entries: dict[str, LedgerEntry] = {}
    failures: list[BaseException] = []

    def follow(source: Source) -> None:
        try:
            entries[source.name] = sort_one(source, stop)
        except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
            failures.append(error)
            stop.set()

    # Daemons: a second Ctrl-C ends the process at once.
    threads = [Thread(target=follow, args=(source,), name=f"postroom-{source.name}", daemon=True) for source in sources]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return _together(sources, entries.values())


def _together(sources: Sequence[Source], entries: Iterable[LedgerEntry]) -> LedgerEntry:
    return replace(reduce(added_up, entries), source=", ".join(source.name for source in sources))
