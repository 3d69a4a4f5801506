"""Real catalogs with one member taken away, and real messages: `impact` says what judging all of them again says."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

import postroom
from postroom.catalog.catalog import Catalog, open_catalog
from postroom.errors import PostroomError
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import create_lake
from postroom.pipeline.worker.sort_task import write_batch

CATALOGS = 12
COPIES = 4
MOST_RECORDS = 60


def recorded(shared: Path) -> dict[str, list[bytes]]:
    """Some recorded messages by their catalogs."""
    found: dict[str, list[bytes]] = {}
    for file in sorted((shared / "events").rglob("*.jsonl")):
        for line in file.open():
            event = json.loads(line)
            found.setdefault(event["catalog"], []).append(json.dumps(event["record"]).encode())
    return found


def members(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all members of a catalog below its groups."""
    if isinstance(node, dict):
        for name, value in node.items():
            if len(path) > 2 and path[0] in ("messagegroups", "endpoints", "schemagroups"):
                yield (*path, name)
            yield from members(value, (*path, name))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from members(value, (*path, number))


def without(tree: Any, path: tuple[Any, ...]) -> Any:
    copied = node = copy.deepcopy(tree)
    for step in path[:-1]:
        node = node[step]
    del node[path[-1]]
    return copied


def test_real_messages_fare_as_a_new_judgement_of_all_says(shared: Path, fleet: Any, tmp_path: Path) -> None:
    rng = random.Random(5)
    events = recorded(shared)
    compared = changed = unaffected = 0
    for number, name in enumerate(sorted(rng.sample(sorted(events), CATALOGS))):
        old = open_catalog(str(shared / "catalogs" / name))
        lines = rng.sample(events[name], min(MOST_RECORDS, len(events[name])))
        lake = create_lake(tmp_path / str(number))
        job = msgspec.structs.replace(fleet.job(lake, old.compiled), keep_records=True)
        columns = {"source": ["events"] * len(lines), "position": list(range(len(lines)))}
        batch = pa.RecordBatch.from_pydict(columns | {"value": pa.array(lines, pa.binary())})
        commit_batch(lake, job, "events", [write_batch(job, [batch])])
        before = [result.match for line in lines for result in old.engine.sort_exactly(line)]
        for path in rng.sample(list(members(old.tree)), COPIES):
            try:
                new = Catalog(without(old.tree, path), settings=old.settings)
            except PostroomError:
                continue
            after = [result.match for line in lines for result in new.engine.sort_exactly(line)]
            expected: Counter[str] = Counter()
            for one, other in zip(before, after, strict=True):
                landed, lands = one.outcome == "landed", other.outcome == "landed"
                expected["dying"] += landed and not lands
                expected["reviving"] += lands and not landed
                expected["moving"] += landed and lands and one.message != other.message
            report = postroom.impact(new, lake=lake)
            found = {"dying": report.dying, "reviving": report.reviving, "moving": report.moving}
            assert {kind: count.count for kind, count in found.items()} == expected, (name, path)
            assert report.landed == report.unaffected + report.judged
            compared += 1
            changed += any(expected.values())
            unaffected += report.unaffected
    assert compared > CATALOGS * COPIES // 2
    assert changed > 0
    assert unaffected > 0
