"""`df.write.format("postroom")`: a batch from options alone, for those who live in Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from postroom.errors import BadFlag
from postroom.pipeline.local_paths import local_path
from postroom.pipeline.sources.dataframe import KAFKA, check_key, holds_records, record_columns
from postroom.pipeline.sources.record_ids import digest_of, id_of_key, origin_of_rows
from postroom.pipeline.worker.arrow import numbers

if TYPE_CHECKING:
    from postroom.pipeline.batch_spec import Job

# As people write them; Spark does not mind the case.
OPTIONS = ("catalog", "lake", "source", "nulls", "endpoint", "partitionByDate", "recordId")
CHOICES = {"nulls": ("strict", "absent"), "partitionbydate": ("true", "false")}

# Rows of a task are counted from here.
ROWS_OF_A_TASK = 2**33


class Naming(msgspec.Struct, frozen=True):
    """How rows of a batch are named that do not say where they came from; `key` is the column that tells them apart."""

    source: str
    batch: str
    key: str = ""


def check_options(options: Mapping[str, str]) -> None:
    """Refuse what nobody would act on."""
    known = {name.lower(): name for name in OPTIONS}
    for name, value in options.items():
        option = name.lower()
        if option not in known and option != "path":  # what .save(…) was given
            near = get_close_matches(option, known, n=1)
            hint = f"Did you mean {known[near[0]]!r}?" if near else f"There are {', '.join(OPTIONS)}."
            raise BadFlag(f'the format "postroom" has no option {name!r}.', remedy=hint)
        if value.lower() not in CHOICES.get(option, (value.lower(),)):
            raise BadFlag(f"the option {known[option]!r} is {' or '.join(CHOICES[option])}, not {value!r}.")


def lake_of(options: Mapping[str, str]) -> str:
    """The lake that is written to: the option, or what `.save(…)` was given."""
    option, path = options.get("lake", ""), options.get("path", "")
    if option and path and local_path(option, "a lake") != local_path(path, "a lake"):
        raise BadFlag(f"there are two lakes: the option says {option} and save(…) says {path}.")
    return option or path


def job_of(options: Mapping[str, str], types: Mapping[str, str]) -> Job:
    """The batch that options ask for, for a DataFrame with columns of these types; every write is a new run."""
    from postroom.pipeline.catalog_reload import CatalogWatch
    from postroom.pipeline.checkpoint import new_run
    from postroom.pipeline.lake.lake import create_lake
    from postroom.pipeline.sorter import Sorter, finish_commits
    from postroom.settings import load_settings

    check_options(options)
    place = lake_of(options)
    missing = [name for name, value in (("catalog", options.get("catalog")), ("lake", place)) if not value]
    if missing:
        raise BadFlag(f'the format "postroom" needs the option {missing[0]!r}.')
    if not holds_records(set(types)):
        raise BadFlag(f"this DataFrame holds no records: its columns are {', '.join(types)}.")
    if options.get("recordId"):
        check_key(options["recordId"], types)
    local_path(place, "a lake")
    watch = CatalogWatch(options["catalog"], load_settings(), options.get("endpoint", ""))
    lake = create_lake(place)
    finish_commits(lake)
    by_date = options.get("partitionByDate", "").lower() == "true"
    nulls = options.get("nulls", "").lower()
    return Sorter(lake, watch, nulls=nulls, partition_by_date=by_date).job(new_run(), 0)


def with_places(batches: Iterable[pa.RecordBatch], naming: Naming, task: int) -> Iterator[pa.RecordBatch]:
    """Records with source, position and id, where they do not say these themselves; ranges of files as they are."""
    row = task * ROWS_OF_A_TASK
    for batch in batches:
        names = set(batch.schema.names)
        if not holds_records(names):
            yield batch
        elif names >= {"source", "position"} and naming.key not in names:
            yield batch.select(["source", "position", *record_columns(names)])
        else:
            yield _placed(batch, names, naming, row)
        row += batch.num_rows


def _placed(batch: pa.RecordBatch, names: set[str], naming: Naming, row: int) -> pa.RecordBatch:
    count = batch.num_rows
    columns = {name: batch.column(name) for name in record_columns(names)}
    places: dict[str, Any] = {"source": pa.repeat(naming.source, count), "position": numbers(row, count)}
    if names >= KAFKA and not names >= {"source", "position"}:
        pairs = zip(batch.column("topic").to_pylist(), batch.column("partition").to_pylist(), strict=True)
        base = naming.source if naming.source.startswith("kafka://") else "kafka:/"
        places = {
            "source": pa.array([f"{base}/{topic}/{partition}" for topic, partition in pairs], pa.string()),
            "position": batch.column("offset").cast(pa.int64()),
        }
    places |= {name: batch.column(name).cast(places[name].type) for name in places if name in names}
    counted = not (names >= KAFKA or "position" in names)
    if naming.key in names or counted:
        numbered = _by_number(**places, batch=naming.batch if counted else "")
        keys = batch.column(naming.key).cast(pa.string()) if naming.key in names else pa.nulls(count, pa.string())
        places["record_id"] = _by_key(places["source"], keys, numbered)
    return pa.RecordBatch.from_arrays(list((places | columns).values()), names=list(places | columns))


def _by_number(source: pa.Array, position: pa.Array, batch: str) -> pa.Array:
    """Ids by source and position; positions that are numbers of rows count in one batch only."""
    sources: list[str] = source.to_pylist()
    digests = {name: digest_of(origin_of_rows(name, batch) if batch else name) for name in set(sources)}
    texts = pa.array([digests[name] for name in sources], pa.string())
    return pc.binary_join_element_wise(texts, position.cast(pa.string()), "-")


def _by_key(source: pa.Array, keys: pa.Array, otherwise: pa.Array) -> pa.Array:
    """Ids by source and key, and those of rows that have none."""
    if keys.null_count == len(keys):
        return otherwise
    pairs = zip(source.to_pylist(), keys.to_pylist(), strict=True)
    known = pa.array([None if key is None else id_of_key(name, key) for name, key in pairs], pa.string())
    return pc.coalesce(known, otherwise)
