"""The first commit of a table, written as Delta's protocol says.

delta-rs refuses table properties that it does not know when it creates a table. Setting them afterwards takes a second
commit, which costs twice as much as the first (measured: 4.3 ms against 2.1 ms of CPU for each table) and would leave
a table without them when the process dies in between.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import time
from uuid import uuid4

import msgspec

from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.manifest import Manifest, TableCommit
from postroom.pipeline.lake.table_properties import STATISTICS_OF, statistics, statistics_columns

LANDED_ON = "_landed_on"
FIRST_COMMIT = f"{0:020}.json"

# What a table without any feature of later versions needs of those who read and write it.
_PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 2}


def create_table(lake: Lake, manifest: Manifest, table: TableCommit) -> bool:
    """Make a table with the files of a batch in it; False when there is one already."""
    log = b"\n".join(map(msgspec.json.encode, _actions(manifest, table)))
    return lake.storage.create(f"{table.folder}/_delta_log/{FIRST_COMMIT}", log)


def _actions(manifest: Manifest, table: TableCommit) -> Iterable[dict[str, object]]:
    now = int(time() * 1000)
    columns = statistics_columns(table.schema)
    yield {"commitInfo": {"timestamp": now, "operation": "CREATE TABLE", "engineInfo": "postroom"}}
    yield {"protocol": _PROTOCOL}
    yield {"metaData": _metadata(table, now, columns)}
    yield {"txn": {"appId": manifest.run, "version": manifest.batch, "lastUpdated": now}}
    for file in table.files:
        yield {
            "add": {
                "path": file.path,
                "partitionValues": table.partition,
                "size": file.size,
                "modificationTime": now,
                "dataChange": True,
                "stats": statistics(file, columns),
            }
        }


def _metadata(table: TableCommit, now: int, columns: str) -> dict[str, object]:
    return {
        "id": str(uuid4()),
        "name": table.definition,
        "description": table.description or None,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": table.schema,
        "partitionColumns": list(table.partition),
        "configuration": ({STATISTICS_OF: columns} if columns else {}) | table.properties,
        "createdTime": now,
    }
