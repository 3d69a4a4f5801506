"""What is done with the corpus in a process of its own, which has little memory and little time.

`python -m tests.poison.trial` with `match FOLDER`, `invent FORMAT`, `compare FORMAT` or `work CATALOG RECORDS LAKE`.
"""

from __future__ import annotations

import json
import random
import resource
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from postroom.catalog.catalog import open_catalog
from postroom.errors import PostroomError
from postroom.formats.format_table import parse_schema, readable
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.lake import create_lake
from postroom.pipeline.sources.file_ranges import WHOLE_FILE
from postroom.pipeline.worker.sort_task import write_batch
from tests.poison.corpus import CORPUS, catalog, pairs, records

MEMORY = 1024**3
SECONDS = 120


def match(folder: str) -> dict[str, Any]:
    """Each payload by its definition: how often which outcome, and which could not be checked."""
    path = Path(folder) / "catalog.json"
    path.write_text(json.dumps(catalog()))
    opened = open_catalog(str(path))
    outcomes, failed = Counter[str](), []
    for record in records():
        found = opened.match(record)
        outcomes[found.outcome] += 1
        failed += [found.message for reason in found.reasons if reason.code == "check_failed"]
    return {"outcomes": outcomes, "failed": failed}


def invent(family: str) -> dict[str, Any]:
    """A payload for each schema of a format: for how many there was one."""
    answers = Counter[str]()
    for case in CORPUS:
        if not case.format.startswith(family):
            continue
        try:
            parse_schema(case.format, case.document, case.type).sample(random.Random(1))
            answers["invented"] += 1
        except PostroomError:
            answers["refused"] += 1
    return {"answers": answers}


def work(catalog_path: str, records_path: str, lake_path: str) -> dict[str, Any]:
    """What a Spark task does with a file of records, and the most memory that took, in kilobytes."""
    lake = create_lake(Path(lake_path))
    kept = lake.keep_catalog(open_catalog(catalog_path).compiled)
    job = Job(str(lake.root), kept, "strict", "run1", 0, datetime.now(UTC))
    rows = [{"path": records_path, "start": 0, "length": WHOLE_FILE}]
    written = write_batch(job, [pa.RecordBatch.from_pylist(rows)])
    return {"read": written.read, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def compare(family: str) -> dict[str, Any]:
    """Each schema of a format with its neighbours: how often which answer."""
    answers = Counter[str]()
    for writer, reader in pairs(family):
        try:
            answers[readable(writer.format, writer.document, reader.document).answer] += 1
        except PostroomError:
            answers["refused"] += 1
    return {"answers": answers}


def main() -> None:
    """Run one trial within its bounds."""
    # Libraries reserve address space when they are loaded; what a trial takes comes on top of that.
    room = MEMORY + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    trial, *arguments = sys.argv[1:]
    trials = {"match": match, "invent": invent, "work": work, "compare": compare}
    json.dump(trials[trial](*arguments), sys.stdout)


if __name__ == "__main__":
    main()
