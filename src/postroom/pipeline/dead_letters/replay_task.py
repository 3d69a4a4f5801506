"""What one task of a replay does: take some files of dead letters, sort their records again, write what is left.

A task takes files as a whole, so that a commit can exchange them: no letter needs a key, and none can land twice.
This runs in Spark's Python workers and therefore loads nothing of the server.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from postroom.errors import LakeRefused
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.inspect.sql_filter import rows_where
from postroom.pipeline.lake.manifest import AddedFile
from postroom.pipeline.sources.record_ids import record_of
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.worker.sort_task import TaskResult, WrittenFile, write_batch
from postroom.pipeline.worker.table_layout import BESIDE, DEAD_LETTERS, RECORDS

# What a new try may change in a letter; the rest stays as it was when the record came.
JUDGEMENT = ["outcome", "message", "reasons", "candidates", "versions", "_catalog"]
IDENTITY = ["_record_id", "index"]
TRIED_AT = pa.field("_replayed_at", pa.timestamp("us", tz="UTC"), metadata={"comment": "When a replay tried it last."})


class ReplayTask(msgspec.Struct, frozen=True):
    """Files of dead letters that are taken together, and which of their letters are meant (all without a condition)."""

    job: Job
    files: tuple[AddedFile, ...]
    where: str = ""


class Replayed(msgspec.Struct, frozen=True):
    """What came of a task: letters tried, rows landed (in `written`), letters by outcome, and the file of those left.

    Without `changed` all is as it was before, and the old files stay.
    """

    files: tuple[AddedFile, ...]
    letters: int
    written: TaskResult
    dead: dict[str, int]
    left: AddedFile | None
    schema: bytes
    changed: bool


class Round(msgspec.Struct):
    """Letters in which every record id occurs once, as numbers of rows; the records they came in; who came out.

    `landed` are the ids of the records of which a letter landed.
    """

    letters: dict[str, int]
    records: dict[tuple[str, int, str], bytes]
    seen: set[int]
    landed: set[str]


def run_replay(argument: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """Do those of our tasks whose numbers Spark's task has. Spark's workers call this."""
    tasks, letters, lake = pickle.loads(argument)  # noqa: S301 - from our own driver
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield msgspec.msgpack.encode(replay_files(tasks[number], letters, lake))


def replay_files(task: ReplayTask, letters_in: Storage, lake: Storage) -> Replayed:
    """Sort the letters of some files in one lake again, into the same one or, to try it, into another."""
    letters = _read(task, letters_in)
    mask = rows_where(letters, task.where)
    chosen, others = letters.filter(mask), letters.filter(pc.invert(mask))
    landed: list[WrittenFile] = []
    schemas: dict[str, bytes] = {}
    still: list[pa.Table] = []
    for part in _rounds(chosen):
        written = write_batch(task.job, _records(part), lake)
        mine = [*_landed(task.job, lake, written, part), *_kept(task.job, lake, written, part)]
        left = _still_dead(task.job, lake, written, part, chosen)
        _check(task.job, part)
        landed.extend(mine)
        schemas |= {file.folder: written.schemas[file.folder] for file in mine}
        still.append(left)
    dead = pa.concat_tables([letters.schema.empty_table(), *still])
    changed = bool(landed) or not _same(dead, chosen)
    left_over = pa.concat_tables([others, dead])
    return Replayed(
        task.files,
        chosen.num_rows,
        TaskResult(sum(file.rows for file in landed if file.folder not in BESIDE), {}, landed, schemas),
        dict(Counter(dead.column("outcome").to_pylist())),
        _write_left(task.job, lake, left_over) if changed and left_over.num_rows else None,
        left_over.schema.serialize().to_pybytes(),
        changed,
    )


def _read(task: ReplayTask, letters: Storage) -> pa.Table:
    tables = [_file(letters, f"{DEAD_LETTERS}/{file.path}").read() for file in task.files]
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    if TRIED_AT.name in table.schema.names:
        return table
    return table.append_column(TRIED_AT, pa.nulls(table.num_rows, TRIED_AT.type))


def _rounds(letters: pa.Table) -> list[Round]:
    # A record that was sorted twice has two letters of one id; in a round each id stands for one letter only.
    rounds: list[Round] = []
    columns = [letters.column(name).to_pylist() for name in ("_record_id", "_source", "_position", "record")]
    for number, (identity, source, position, record) in enumerate(zip(*columns, strict=True)):
        # Older versions made other ids of the same places: a letter keeps the one that it has.
        place = (source, position, record_of(identity))
        for part in rounds:
            if identity not in part.letters and part.records.get(place, record) == record:
                break
        else:
            part = Round({}, {}, set(), set())
            rounds.append(part)
        part.letters[identity] = number
        part.records[place] = record
    return rounds


def _records(part: Round) -> Iterator[pa.RecordBatch]:
    sources, positions, ids = zip(*part.records, strict=True)
    columns = {
        "source": pa.array(sources, pa.string()),
        "position": pa.array(positions, pa.int64()),
        "record_id": pa.array(ids, pa.string()),
        "value": pa.array(part.records.values(), pa.binary()),
    }
    table = pa.table(columns)
    return iter(table.to_batches(max_chunksize=10_000))


def _owner(part: Round, identity: str) -> int | None:
    """The letter that a message belongs to: its own, or that of a record which could not be taken apart before."""
    found = part.letters.get(identity)
    return part.letters.get(identity.rpartition("-")[0]) if found is None else found


def _owners(part: Round, ids: Iterable[str]) -> list[int | None]:
    owners = [_owner(part, identity) for identity in ids]
    part.seen.update(owner for owner in owners if owner is not None)
    return owners


def _landed(job: Job, lake: Storage, written: TaskResult, part: Round) -> Iterator[WrittenFile]:
    """The files of landed rows without those messages of a batch that are no letters: they landed long ago."""
    for file in written.files:
        if file.folder not in BESIDE:
            ids = _ids(lake, file)
            owners = _owners(part, ids)
            part.landed |= {record_of(name) for name, owner in zip(ids, owners, strict=True) if owner is not None}
            yield from _with_rows(job, lake, file, [owner is not None for owner in owners])


def _kept(job: Job, lake: Storage, written: TaskResult, part: Round) -> Iterator[WrittenFile]:
    """The files of records without those of which no letter landed."""
    for file in written.files:
        if file.folder == RECORDS:
            yield from _with_rows(job, lake, file, [record in part.landed for record in _ids(lake, file)])


def _ids(lake: Storage, file: WrittenFile) -> list[str]:
    ids: list[str] = _file(lake, f"{file.folder}/{file.path}").read(["_record_id"]).column(0).to_pylist()
    return ids


def _with_rows(job: Job, lake: Storage, file: WrittenFile, wanted: list[bool]) -> Iterator[WrittenFile]:
    """A file with some of its rows, or none; the same one where all are wanted."""
    if all(wanted):
        yield file
        return
    path = f"{file.folder}/{file.path}"
    table = _file(lake, path).read().filter(pa.array(wanted, pa.bool_()))
    lake.delete([path])
    if table.num_rows:
        name = str(PurePosixPath(file.path).with_name(f"part-{job.batch_name}-{uuid4().hex}.parquet"))
        size = _write(table, lake, f"{file.folder}/{name}")
        yield msgspec.structs.replace(file, path=name, size=size, rows=table.num_rows)


def _still_dead(job: Job, lake: Storage, written: TaskResult, part: Round, chosen: pa.Table) -> pa.Table:
    """The letters that are dead again, with what the new try says of them."""
    found: list[pa.Table] = []
    numbers: list[int] = []
    for file in written.files:
        if file.folder == DEAD_LETTERS:
            path = f"{file.folder}/{file.path}"
            table = _file(lake, path).read()
            lake.delete([path])
            owners = _owners(part, table.column("_record_id").to_pylist())
            found.append(table.filter(pa.array([owner is not None for owner in owners])))
            numbers.extend(owner for owner in owners if owner is not None)
    letters = chosen.take(pa.array(numbers, pa.int64()))
    if not found:
        return letters
    judged = pa.concat_tables(found)
    tried_at = pa.array([job.started] * len(numbers), TRIED_AT.type)
    for name in letters.schema.names:
        if name in JUDGEMENT or name in IDENTITY:
            letters = _replaced(letters, name, judged.column(name))
    return _replaced(letters, TRIED_AT.name, tried_at)


def _replaced(table: pa.Table, name: str, values: Any) -> pa.Table:
    field = table.schema.field(name)
    return table.set_column(table.schema.get_field_index(name), field, values.cast(field.type))


def _same(dead: pa.Table, chosen: pa.Table) -> bool:
    """Whether the new try says of every letter what the last one said."""
    names = [*IDENTITY, *JUDGEMENT, "_batch"]
    if dead.num_rows != chosen.num_rows:
        return False
    order = [("_record_id", "ascending"), ("_batch", "ascending")]
    return bool(dead.sort_by(order).select(names).equals(chosen.sort_by(order).select(names)))


def _check(job: Job, part: Round) -> None:
    lost = len(part.letters) - len(part.seen)
    if lost:
        raise LakeRefused(
            f"{lost:,} of {len(part.letters):,} letters neither landed nor stayed; nothing was changed.",
            place=job.lake,
            remedy="This is a fault of Postroom: please report it with the catalog.",
        )


def _write_left(job: Job, lake: Storage, table: pa.Table) -> AddedFile:
    name = f"part-{job.batch_name}-{uuid4().hex}.parquet"
    size = _write(table, lake, f"{DEAD_LETTERS}/{name}")
    return AddedFile(name, size, _file(lake, f"{DEAD_LETTERS}/{name}").metadata.num_rows)


def _write(table: pa.Table, lake: Storage, path: str) -> int:
    with lake.output(path) as file:
        pq.write_table(table, file, compression="zstd", compression_level=1)
        return int(file.tell())


def _file(lake: Storage, path: str) -> pq.ParquetFile:
    return pq.ParquetFile(lake.input(path))
