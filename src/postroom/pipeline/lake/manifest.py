"""Manifests: everything one batch will add to the lake, written once before any table is touched."""

from __future__ import annotations

from datetime import datetime

import msgspec

from postroom.errors import LakeRefused
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.lake import MANIFESTS, Lake
from postroom.pipeline.storage.interface import Lock
from postroom.pipeline.worker.column_bounds import Bounds

# The kind of a batch that brings the same rows in fewer files: who follows the changes of a table sees none in it.
COMPACTION = "tidy"
# The kind of a batch after which the files that it took out are on no disk any more.
ERASURE = "erase"


class AddedFile(msgspec.Struct, frozen=True):
    """A Parquet file, relative to its table; `partition` where it is not that of the whole commit."""

    path: str
    size: int
    rows: int
    partition: dict[str, str] = {}
    bounds: Bounds = {}


class SchemaChange(msgspec.Struct, frozen=True):
    """What a batch changes in a table's columns: created, columns_added, or replaced by a new table."""

    table: str
    kind: str
    detail: str = ""


class TableCommit(msgspec.Struct, frozen=True):
    """What a batch adds to one table, and which files it takes out; `schema` is Delta's own JSON."""

    folder: str
    schema: str
    files: tuple[AddedFile, ...]
    definition: str = ""
    version: str = ""
    description: str = ""
    removed: tuple[AddedFile, ...] = ()
    partition: dict[str, str] = {}
    properties: dict[str, str] = {}


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """One batch, ready to be applied any number of times; a replay also says how many letters it took up again."""

    run: str
    batch: int
    source: str
    catalog: str
    started: datetime
    read: int
    landed: dict[str, int]
    dead: dict[str, int]
    tables: tuple[TableCommit, ...]
    changes: tuple[SchemaChange, ...]
    kind: str = "sort"
    replayed: int = 0


def manifest_path(run: str, batch: int) -> str:
    """Where in a lake the manifest of a batch lies while it is in flight."""
    return f"{MANIFESTS}/{run}-{batch}.json"


def put_manifest(lake: Lake, manifest: Manifest, lock: Lock) -> bool:
    """Write a manifest unless the batch has one already; says whether it was written. Needs the lake's lock."""
    path, data = manifest_path(manifest.run, manifest.batch), msgspec.json.encode(manifest)
    lock.promise(path, data)
    # Of two commits of one batch only the first counts.
    return lake.storage.create(path, data)


def read_manifest(lake: Lake, run: str, batch: int) -> Manifest | None:
    """The manifest of a batch in flight, or None."""
    path = manifest_path(run, batch)
    try:
        return msgspec.json.decode(lake.storage.read(path), type=Manifest)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise LakeRefused(f"this manifest cannot be read: {error}.", place=f"{lake.url}/{path}") from None


def unfinished(lake: Lake) -> list[tuple[str, int]]:
    """Run and batch of all manifests in flight, oldest batch first."""
    found = (name.removesuffix(".json") for name in lake.storage.names(MANIFESTS) if name.endswith(".json"))
    names = [name.rpartition("-") for name in found if not name.startswith(".")]
    return sorted((run, int(batch)) for run, _, batch in names)


def check_balance(job: Job, read: int, landed: dict[str, int], dead: dict[str, int]) -> None:
    """Stop a batch that would lose or invent a record."""
    there = sum(landed.values()) + sum(dead.values())
    if read != there:
        raise LakeRefused(
            f"batch {job.batch_name} read {read:,} messages but wrote {there:,}; nothing of it was committed.",
            place=job.lake,
            remedy="This is a fault of Postroom: please report it with the catalog.",
        )
