"""Commit of a replay: files of dead letters are exchanged by the manifest that brings in what landed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pyarrow as pa
from deltalake import Schema

from postroom.pipeline.batch_spec import Job
from postroom.pipeline.dead_letters.replay_task import Replayed
from postroom.pipeline.lake.commit import apply_locked, discard, finish_locked
from postroom.pipeline.lake.commit_plan import plan_manifest
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.manifest import Manifest, TableCommit, check_balance, put_manifest

SOURCE = "dead letters"


class LettersReplaced(Exception):
    """Another replay has taken some of the same letters in the meantime."""


def commit_replay(lake: Lake, job: Job, done: list[Replayed]) -> LedgerEntry | None:
    """Exchange the files of letters and bring in what landed, exactly once; None when nothing has changed."""
    with lake.lock() as lock:
        try:
            # Processes that died may have taken the same letters.
            finish_locked(lake)
            if not done:
                return None
            _check_present(lake, done)
            if not any(part.changed for part in done):
                return None
            manifest = plan_replay(lake, job, done)
        except BaseException:
            _discard(lake, done)
            raise
        put_manifest(lake, manifest, lock)
        return apply_locked(lake, manifest)


def plan_replay(lake: Lake, job: Job, done: list[Replayed]) -> Manifest:
    """All that a replay will change: what landed as in any batch, and files of letters in place of others."""
    manifest = plan_manifest(lake, job, SOURCE, [part.written for part in done])
    dead: Counter[str] = Counter()
    for part in done:
        dead.update(part.dead)
    changed = [part for part in done if part.changed]
    for part in changed:
        before = sum(file.rows for file in part.files)
        left = before - part.letters + sum(part.dead.values())
        check_balance(job, left, {DEAD_LETTERS: part.left.rows if part.left else 0}, {})
    letters = TableCommit(
        DEAD_LETTERS,
        Schema.from_arrow(pa.ipc.read_schema(pa.py_buffer(changed[0].schema))).to_json(),
        tuple(part.left for part in changed if part.left is not None),
        DEAD_LETTERS,
        "1",
        removed=tuple(file for part in changed for file in part.files),
    )
    return msgspec.structs.replace(
        manifest,
        read=manifest.read + sum(dead.values()),
        dead=dict(dead),
        tables=(*manifest.tables, letters),
        kind="replay",
        replayed=sum(part.letters for part in done),
    )


def _check_present(lake: Lake, done: list[Replayed]) -> None:
    there = active_files(lake)
    if any(file.path not in there for part in done for file in part.files):
        raise LettersReplaced


def active_files(lake: Lake) -> set[str]:
    """The files that the table of dead letters has now."""
    actions: Any = pa.table(lake.table(DEAD_LETTERS).get_add_actions(flatten=True))
    return set(actions.column("path").to_pylist())


def _discard(lake: Lake, done: list[Replayed]) -> None:
    discard(lake, [part.written for part in done])
    lake.storage.delete(f"{DEAD_LETTERS}/{part.left.path}" for part in done if part.left is not None)
