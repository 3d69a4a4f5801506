"""Sweeping: files that a batch wrote and did not commit go away as soon as surely nobody will commit them.

Readers never see such files; they only cost disk. They come from processes that died before their manifest, and from
tasks that died and were tried again.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from postroom.pipeline.lake.batch_leases import Lease, expired_leases, guarded, has_leases
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import find_entry
from postroom.pipeline.lake.table_cache import open_table
from postroom.pipeline.worker.table_layout import DEAD_LETTERS, LEDGER

log = logging.getLogger(__name__)

# A stream sweeps when this many times as long has passed as the last time took: tables may have very many files.
PAUSE = 100

Strays = dict[str, list[Path]]


def sweep(lake: Lake) -> int:
    """Remove what no commit refers to, of batches on which surely nobody works any more; says how many files."""
    if not has_leases(lake):
        return 0
    with guarded(lake):
        past = expired_leases(lake)
        if not past:
            return 0
        strays = _strays(lake, past)
        # A process whose driver was killed may still be about to commit; that takes the same lock, and then finds
        # either its files or that they are gone.
        with lake.lock():
            settled = [lease for lease in past if not _is_promised(lake, lease)]
            swept = sum(_remove(lake, lease, strays.get(lease.batch_name, [])) for lease in settled)
            for part in lake.manifests.glob(".*.part"):
                part.unlink()
        for lease in settled:
            lease.settle()
    if swept:
        log.info("removed %d files that no table refers to", swept)
    return swept


def sweep_ledger(lake: Lake, since: float) -> None:
    """Remove what a commit left that died between the file and the log of the ledger; for who holds the lake's lock.

    Nobody else writes to the ledger then, so of the files since the commit began those count that the log names.
    """
    folder = lake.path(LEDGER)
    files = [path for path in folder.glob("*.parquet") if path.stat().st_mtime >= since]
    if files:
        logs = [path.read_text() for path in folder.glob("_delta_log/*.json") if path.stat().st_mtime >= since]
        for file in files:
            if not any(file.name in text for text in logs):
                file.unlink()


class Sweeper:
    """Sweeps a lake from time to time."""

    def __init__(self, lake: Lake, clock: Callable[[], float] = time.monotonic) -> None:
        self._lake = lake
        self._clock = clock
        self._next = clock()

    def __call__(self) -> None:
        """Sweep if the last time is long enough ago."""
        began = self._clock()
        if began >= self._next:
            sweep(self._lake)
            took = self._clock() - began
            self._next = began + took + PAUSE * took


def _strays(lake: Lake, past: Iterable[Lease]) -> Strays:
    """The files of some batches in the folders of all tables, without those that the batches brought in."""
    wanted = {lease.batch_name: lease.files() for lease in past}
    found: Strays = {}
    for folder in _folders(lake):
        for entry in os.scandir(folder):
            batch = batch_of(entry.name)
            if batch in wanted and entry.name not in wanted[batch]:
                found.setdefault(batch, []).append(Path(entry.path))
    return found


def batch_of(name: str) -> str:
    """The batch that wrote a file, by the file's name: `part-<run>-<batch>-<any>.parquet`."""
    if not (name.startswith("part-") and name.endswith(".parquet")):
        return ""
    return name.removeprefix("part-").rpartition("-")[0]


def _folders(lake: Lake) -> Iterator[Path]:
    """All folders that have a table or were to have one."""
    for pattern in ("[!_.]*/*", "_endpoints/*/*", DEAD_LETTERS):
        yield from (path for path in lake.root.glob(pattern) if path.is_dir())


def _is_promised(lake: Lake, lease: Lease) -> bool:
    return (lake.manifests / f"{lease.batch_name}.json").exists()


def _remove(lake: Lake, lease: Lease, files: list[Path]) -> int:
    """Remove files of a batch, unless, against all expectation, a table has them."""
    run, _, batch = lease.batch_name.rpartition("-")
    if not files or (not lease.note.exists() and find_entry(lake, run, int(batch)) is not None):
        return 0
    known = {folder: _files_of_table(lake, folder) for folder in {file.parent for file in files}}
    strays = [file for file in files if file.name not in known[file.parent]]
    for file in strays:
        file.unlink(missing_ok=True)
    return len(strays)


def _files_of_table(lake: Lake, folder: Path) -> set[str]:
    if not lake.has(str(folder.relative_to(lake.root))):
        return set()
    return {uri.rpartition("/")[2] for uri in open_table(folder).file_uris()}
