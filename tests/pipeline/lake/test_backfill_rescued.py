"""Members that are declared after they landed are lifted into their columns, once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from deltalake import DeltaTable

from postroom.catalog.catalog import Catalog
from postroom.errors import MessageUnknown
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.inspect.tables import list_changes
from postroom.pipeline.lake import backfill_rescued as lifting
from postroom.pipeline.lake.backfill_rescued import backfill
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake, create_lake, open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import unfinished
from postroom.pipeline.lake.reconciliation import differences

XID = "/messagegroups/plant/messages/reading"
TABLE = "plant/reading"


def catalog(schema_format: str = "JsonSchema/draft-07", **properties: Any) -> CompiledCatalog:
    structure = {"$schema": "https://json-structure.org/meta/core/v0/#", "$id": "https://plant.example/r", "name": "R"}
    name = {} if schema_format.startswith("JsonSchema") else structure
    message = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "reading"}},
        "dataschemaformat": schema_format,
        "dataschema": {"type": "object", **name, "properties": {"sensor": {"type": "string"}, **properties}},
    }
    return Catalog({"messagegroups": {"plant": {"messages": {"reading": message}}}}).compiled


PLACE: dict[str, Any] = {"type": "object", "properties": {"floor": {"type": "integer"}}}
ROOM: dict[str, Any] = {"type": "object", "properties": {"room": {"type": "string"}}}


def land(fleet: Any, lake: Lake, compiled: CompiledCatalog, *payloads: str, run: str = "run1", **job: Any) -> None:
    """Land payloads, one event each, their number as id."""
    text = "".join(
        f'{{"specversion": "1.0", "id": "{n}", "source": "/s", "type": "reading", "data": {payload}}}\n'
        for n, payload in enumerate(payloads)
    )
    file = lake.root.parent / f"{run}.jsonl"
    file.write_text(text)
    task = msgspec.structs.replace(fleet.job(lake, compiled, run), **job)
    commit_batch(lake, task, str(file), [fleet.task(task, file)])


def rows(lake: Lake, folder: str = TABLE) -> list[dict[str, Any]]:
    found = DeltaTable(lake.path(folder)).to_pyarrow_table().to_pylist()
    return sorted(found, key=lambda row: (row["_batch"], row["_position"]))


def data_of(lake: Lake) -> list[tuple[Any, Any]]:
    """What the rows have, and what is still rescued."""
    return [({n: v for n, v in row["data"].items() if v is not None}, row["_rescued"]) for row in rows(lake)]


def test_members_are_lifted_and_no_longer_rescued(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, catalog(), '{"sensor": "a", "quality": 7, "note": 1.10}', '{"sensor": "b"}', '{"quality": null}')
    before = rows(lake)
    assert [row["_rescued"] for row in before] == ['{"quality":7,"note":1.10}', None, '{"quality":null}']
    done = backfill(lake.root, catalog(quality={"type": "integer"}))
    assert [(t.folder, t.message, t.rows, t.members, t.misfits) for t in done.tables] == [(TABLE, XID, 2, 2, 0)]
    assert data_of(lake) == [({"sensor": "a", "quality": 7}, '{"note":1.10}'), ({"sensor": "b"}, None), ({}, None)]
    others = [name for name in before[0] if name not in ("data", "_rescued")]
    assert [{name: row[name] for name in others} for row in rows(lake)] == [
        {name: row[name] for name in others} for row in before
    ]
    assert list(differences(lake)) == []
    assert [change.detail for change in list_changes(lake)][1:] == ["data.quality"]
    assert read_ledger(lake)[-1].kind == "backfill"


def test_a_second_time_changes_nothing(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, catalog(), '{"quality": 7}', '{"quality": "high"}')
    declared = catalog(quality={"type": "integer"})
    assert backfill(lake.root, declared).tables[0].misfits == 1
    version = DeltaTable(lake.path(TABLE)).version()
    again = backfill(lake.root, declared)
    assert (again.entry, [(t.rows, t.members, t.misfits) for t in again.tables]) == (None, [(0, 0, 1)])
    assert DeltaTable(lake.path(TABLE)).version() == version
    assert data_of(lake) == [({"quality": 7}, None), ({}, '{"quality":"high"}')]


KINDS: dict[str, tuple[Any, Any, str, Any, str | None]] = {
    "a whole object": (
        {},
        {"place": PLACE},
        '{"place": {"floor": 3, "room": "x"}}',
        {"place": {"floor": 3}},
        '{"place":{"room":"x"}}',
    ),
    "a member of an object": (
        {"place": ROOM},
        {"place": {"type": "object", "properties": {**ROOM["properties"], **PLACE["properties"]}}},
        '{"place": {"floor": 3, "room": "x"}}',
        {"place": {"room": "x", "floor": 3}},
        None,
    ),
    "a member beside an object": (
        {"place": PLACE},
        {"place": PLACE, "more": {"type": "string"}},
        '{"place": {"room": "x"}, "more": "m"}',
        {"place": {"floor": None}, "more": "m"},
        '{"place":{"room":"x"}}',
    ),
    "a list of objects": (
        {},
        {"list": {"type": "array", "items": PLACE}},
        '{"list": [{"floor": 1}, {"room": 2}]}',
        {"list": [{"floor": 1}, {"floor": None}]},
        '{"list":[null,{"room":2}]}',
    ),
    "a map": (
        {},
        {"limits": {"type": "object", "additionalProperties": {"type": "integer"}}},
        '{"limits": {"low": 1}}',
        {"limits": [("low", 1)]},
        None,
    ),
    "a free-form value": (
        {},
        {"free": {}},
        '{"free": {"a": [1, 12345678901234567890]}}',
        {"free": '{"a":[1,12345678901234567890]}'},
        None,
    ),
    "a text where the column is a struct": (
        {},
        {"place": PLACE, "places": {"type": "array", "items": PLACE}},
        '{"place": "here", "places": ["there"]}',
        {},
        '{"place":"here","places":["there"]}',
    ),
    "a number too large for its column": (
        {},
        {"large": {"type": "integer"}},
        '{"large": 12345678901234567890}',
        {},
        '{"large":12345678901234567890}',
    ),
    "a number too large for everybody": (
        {},
        {"large": {"type": "number"}, "long": {}, "more": {"type": "string"}},
        f'{{"large": 1e400, "long": {"1" * 5000}, "more": "m"}}',
        {"more": "m"},
        f'{{"large":1e400,"long":{"1" * 5000}}}',
    ),
}


@pytest.mark.parametrize(("before", "after", "payload", "data", "left"), KINDS.values(), ids=KINDS)
def test_members_of_all_kinds(
    fleet: Any, lake: Lake, before: Any, after: Any, payload: str, data: Any, left: str | None
) -> None:
    land(fleet, lake, catalog(**before), payload)
    backfill(lake.root, catalog(**after))
    assert data_of(lake) == [(data, left)]


def test_a_table_follows_the_catalog_that_it_was_sorted_by_last(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, catalog(), '{"quality": 7}', run="run1")
    land(fleet, lake, catalog(quality={"type": "integer"}), '{"quality": 8}', run="run2")
    assert backfill(lake.root).tables[0].rows == 1
    assert data_of(lake) == [({"quality": 7}, None), ({"quality": 8}, None)]
    assert backfill(lake.root).tables == ()


def test_only_the_tables_of_one_message(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, catalog(), '{"quality": 7}')
    assert backfill(lake.root, catalog(quality={"type": "integer"}), message=XID).tables[0].rows == 1
    with pytest.raises(MessageUnknown, match="no table of this message"):
        backfill(lake.root, message="/messagegroups/plant/messages/other")


def test_a_dry_run_changes_nothing(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, catalog(), '{"quality": 7}')
    version = DeltaTable(lake.path(TABLE)).version()
    done = backfill(lake.root, catalog(quality={"type": "integer"}), dry_run=True)
    assert (done.entry, done.tables[0].members) == (None, 1)
    assert DeltaTable(lake.path(TABLE)).version() == version


def test_files_of_a_day_stay_in_their_day(fleet: Any, lake: Lake) -> None:
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2)]
    for number, day in enumerate(days):
        land(fleet, lake, catalog(), '{"quality": 7}', run=f"run{number}", partition_by_date=True, started=day)
    assert backfill(lake.root, catalog(quality={"type": "integer"})).tables[0].rows == 2
    assert [(row["_landed_on"], row["data"]["quality"]) for row in rows(lake)] == [(day.date(), 7) for day in days]


def test_members_are_lifted_into_lists_of_objects_that_got_them_later(fleet: Any, lake: Lake) -> None:
    listed = {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "integer"}}}}
    wider = {
        "type": "array",
        "items": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}},
    }
    land(fleet, lake, catalog(list=listed), '{"list": [{"x": 1, "y": 2}]}')
    (told,) = backfill(lake.root, catalog(list=wider)).tables
    assert (told.rows, told.why) == (1, "")
    assert rows(lake)[0]["data"]["list"] == [{"x": 1, "y": 2}]
    assert rows(lake)[0]["_rescued"] is None


def test_a_table_that_cannot_have_the_columns_says_why(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, catalog(floor={"type": "integer"}), '{"floor": 1, "y": 2}')
    (told,) = backfill(lake.root, catalog(floor={"type": "string"}, y={"type": "integer"})).tables
    assert (told.rows, told.why) == (0, "data.floor was long and is now string")
    assert rows(lake)[0]["_rescued"] == '{"y":2}'


def test_json_structure_reads_members_in_its_own_way(fleet: Any, lake: Lake) -> None:
    structure = "JSONStructure/draft-02"
    land(fleet, lake, catalog(structure), '{"sensor": "a", "count": "7", "day": "2026-01-02", "bytes": "AQ=="}')
    declared = {"count": {"type": "int64"}, "day": {"type": "date"}, "bytes": {"type": "binary"}}
    backfill(lake.root, catalog(structure, **declared))
    ((data, left),) = data_of(lake)
    assert (data["count"], data["day"].isoformat(), data["bytes"], left) == (7, "2026-01-02", b"\x01", None)


def test_rows_of_older_lakes_have_nothing_rescued(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, catalog(), '{"quality": 7}', keep_undeclared=False)
    assert rows(lake)[0]["_rescued"] is None
    assert backfill(lake.root, catalog(quality={"type": "integer"})).tables == ()


# Dies as by kill -9 before or after one of the steps that change the lake.
DRIVER = """
import os, sys
from pathlib import Path
import postroom.pipeline.lake.backfill_rescued as lifting
import postroom.pipeline.lake.commit as commit
import postroom.pipeline.lake.file_exchange as exchange
from postroom.messages.definitions.definition import CompiledCatalog

lake, compiled, moment = sys.argv[1:]
where, name, when = moment.split(":")
module = {"backfill": lifting, "exchange": exchange, "commit": commit}[where]
real = getattr(module, name)

def dying(*arguments, **options):
    if when == "after":
        real(*arguments, **options)
    os._exit(9)

setattr(module, name, dying)
lifting.backfill(lake, CompiledCatalog.decode(Path(compiled).read_bytes()))
"""
MOMENTS = [
    *(f"{step}:{when}" for step in ("backfill:write_parquet", "exchange:put_manifest") for when in ("before", "after")),
    *(f"commit:{name}:{when}" for name in ("commit_table", "record_batch", "put_by") for when in ("before", "after")),
]


@pytest.mark.parametrize("moment", MOMENTS)
def test_dying_at_any_moment_loses_and_doubles_nothing(fleet: Any, lake: Lake, tmp_path: Path, moment: str) -> None:
    payloads = [json.dumps({"sensor": str(n), "quality": n, "note": n}) for n in range(5)]
    land(fleet, lake, catalog(), *payloads)
    declared = catalog(quality={"type": "integer"})
    compiled = tmp_path / "compiled"
    compiled.write_bytes(declared.encode())
    command = [sys.executable, "-c", DRIVER, str(lake.root), str(compiled), moment]
    assert subprocess.run(command, env=os.environ, timeout=300, check=False).returncode == 9
    assert sum(len(row) for row in rows(lake)) > 0  # what is there can be read at any time
    finish_commits(lake)
    backfill(lake.root, declared)
    assert data_of(lake) == [({"sensor": str(n), "quality": n}, f'{{"note":{n}}}') for n in range(5)]
    assert list(differences(lake)) == []
    assert unfinished(lake) == []
    assert [entry.kind for entry in read_ledger(lake)] == ["sort", "backfill"]
    # What a dead process wrote is removed; the file that was exchanged stays for those who read an older version.
    assert len(fleet.unknown_files(lake)) == 1


def test_a_sort_between_reading_and_committing_is_not_lost(
    fleet: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(fleet, lake, catalog(), '{"quality": 7}')
    commit = lifting._commit

    def late(*arguments: Any) -> Any:
        monkeypatch.setattr(lifting, "_commit", commit)
        land(fleet, lake, catalog(), '{"quality": 8}', run="run2")
        return commit(*arguments)

    monkeypatch.setattr(lifting, "_commit", late)
    declared = catalog(quality={"type": "integer"})
    backfill(lake.root, declared)
    assert data_of(lake) == [({"quality": 7}, None), ({}, '{"quality":8}')]
    backfill(lake.root, declared)
    assert data_of(lake) == [({"quality": 7}, None), ({"quality": 8}, None)]


def test_files_that_others_exchanged_are_read_again(fleet: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    for run in ("run1", "run2"):
        land(fleet, lake, catalog(), '{"quality": 7}', run=run)
    commit = lifting._commit

    def late(*arguments: Any) -> Any:
        monkeypatch.setattr(lifting, "_commit", commit)
        DeltaTable(lake.path(TABLE)).optimize.compact()
        return commit(*arguments)

    monkeypatch.setattr(lifting, "_commit", late)
    assert backfill(lake.root, catalog(quality={"type": "integer"})).tables[0].rows == 2
    assert data_of(lake) == [({"quality": 7}, None)] * 2
    assert open_lake(lake.root) == create_lake(lake.root)
