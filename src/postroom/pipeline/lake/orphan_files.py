"""Sweeping: files that a batch wrote and did not commit go away as soon as surely nobody will commit them.

Readers never see such files; they only cost disk. They come from processes that died before their manifest, and from
tasks that died and were tried again.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator

from postroom.pipeline.lake.batch_leases import Lease, expired_leases, guarded, has_leases, open_batches
from postroom.pipeline.lake.lake import ENDPOINTS, MANIFESTS, Lake
from postroom.pipeline.lake.ledger import find_entry
from postroom.pipeline.lake.table_cache import find_table
from postroom.pipeline.storage.interface import StoredFile
from postroom.pipeline.worker.table_layout import DEAD_LETTERS, LEDGER, RECORDS

log = logging.getLogger(__name__)

# A stream sweeps when this many times as long has passed as the last time took: tables may have very many files.
PAUSE = 100

_OURS = re.compile(r"part-.+-[0-9]+-[0-9a-f]{32}\.parquet")

Strays = dict[str, list[str]]


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
            settled = [lease for lease in past if not _is_promised(lake, lease) and lease.give_up()]
            swept = sum(_remove(lake, lease, strays.get(lease.batch_name, [])) for lease in settled)
            parts = [name for name in lake.storage.names(MANIFESTS) if name.startswith(".") and name.endswith(".part")]
            lake.storage.delete(f"{MANIFESTS}/{name}" for name in parts)
        for lease in settled:
            lease.settle()
    if swept:
        log.info("removed %d files that no table refers to", swept)
    return swept


def sweep_ledger(lake: Lake, run: str, batch: int) -> None:
    """Remove what a commit left that died between the file and the log of the ledger; for who holds the lake's lock.

    Nobody else writes to the ledger then, so of the files since the commit began those count that the log names.
    """
    storage, manifest = lake.storage, f"{run}-{batch}.json"
    since = next((file.modified for file in storage.files(MANIFESTS) if file.path.endswith(f"/{manifest}")), 0.0)
    files = [file.path for file in storage.files(LEDGER) if _is_of(file, ".parquet", since)]
    if files:
        logs = [file.path for file in storage.files(f"{LEDGER}/_delta_log") if _is_of(file, ".json", since)]
        texts = [text.decode() for text in storage.map(storage.read, logs)]
        storage.delete(path for path in files if not any(path.rpartition("/")[2] in text for text in texts))


def remove_unused(lake: Lake) -> None:
    """Remove every file from the disk that no table has now, also those of older versions; needs the lake's lock.

    Files of batches on which somebody may be at work stay, and files of other programs that no log knows.
    """
    at_work = open_batches(lake)
    known: dict[str, set[str]] = {}
    for folder in _folders(lake):
        table = find_table(lake, folder)
        if table is not None:
            known[folder] = {uri.rpartition("/")[2] for uri in table.file_uris()}
            # What a log has taken out, whoever wrote it.
            if table.vacuum(0, dry_run=True, enforce_retention_duration=False):
                table.vacuum(0, dry_run=False, enforce_retention_duration=False)
    places = (path.rpartition("/") for path in _data_files(lake))
    lake.storage.delete(
        f"{folder}/{name}"
        for folder, _, name in places
        if folder in known and name not in known[folder] and _OURS.fullmatch(name) and batch_of(name) not in at_work
    )


def _is_of(file: StoredFile, suffix: str, since: float) -> bool:
    return file.path.endswith(suffix) and file.modified >= since


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
    for path in _data_files(lake):
        name = path.rpartition("/")[2]
        batch = batch_of(name)
        if batch in wanted and name not in wanted[batch]:
            found.setdefault(batch, []).append(path)
    return found


def _data_files(lake: Lake) -> Iterator[str]:
    """The files in the folders of all tables, and in those that were to have one."""
    if lake.storage.folder is None:
        # One request for a thousand files, wherever they are.
        yield from (file.path for file in lake.storage.everything("") if "/_delta_log/" not in file.path)
        return
    for folder in _folders(lake):
        yield from (f"{folder}/{name}" for name in lake.storage.names(folder))


def batch_of(name: str) -> str:
    """The batch that wrote a file, by the file's name: `part-<run>-<batch>-<any>.parquet`."""
    if not (name.startswith("part-") and name.endswith(".parquet")):
        return ""
    return name.removeprefix("part-").rpartition("-")[0]


def _folders(lake: Lake) -> Iterator[str]:
    """All folders that have a table or were to have one."""
    groups = [group for group in lake.storage.folders("") if not group.startswith(("_", "."))]
    groups += [f"{ENDPOINTS}/{group}" for group in lake.storage.folders(ENDPOINTS)]
    for group in groups:
        yield from (f"{group}/{table}" for table in lake.storage.folders(group))
    yield from (DEAD_LETTERS, RECORDS)


def _is_promised(lake: Lake, lease: Lease) -> bool:
    return lake.storage.exists(f"{MANIFESTS}/{lease.batch_name}.json")


def _remove(lake: Lake, lease: Lease, files: list[str]) -> int:
    """Remove files of a batch, unless, against all expectation, a table has them."""
    run, _, batch = lease.batch_name.rpartition("-")
    if not files or (not lease.has_note and find_entry(lake, run, int(batch)) is not None):
        return 0
    known = {folder: _files_of_table(lake, folder) for folder in {file.rpartition("/")[0] for file in files}}
    strays = [file for file in files if file.rpartition("/")[2] not in known[file.rpartition("/")[0]]]
    lake.storage.delete(strays)
    return len(strays)


def _files_of_table(lake: Lake, folder: str) -> set[str]:
    table = find_table(lake, folder)
    return {uri.rpartition("/")[2] for uri in table.file_uris()} if table is not None else set()
