"""What a table says about itself: which definition and schema its columns come from, in which catalog, and of which
columns its log has statistics.

A table names these columns when it is made, in a property that other writers of Delta tables honour, so that all files
have statistics of the same ones. That is no nicety: where files have some of different columns, `to_pyarrow_dataset` of
delta-rs 1.6 takes "not said" for "nothing fits" and loses rows, also those of `postroom sql`. A table that was made
without the property goes on without statistics, and a column that it gets later has none.
"""

from __future__ import annotations

import msgspec
from deltalake import DeltaTable

from postroom.messages.definitions.definition import Definition
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.manifest import AddedFile, TableCommit
from postroom.pipeline.worker.column_bounds import SOUGHT, ColumnBound

DEFINITION = "postroom.definition"
VERSION = "postroom.definition.version"
SCHEMA = "postroom.schema"
SCHEMA_VERSION = "postroom.schema.version"
CATALOG = "postroom.catalog.catalog"
STATISTICS_OF = "delta.dataSkippingStatsColumns"


def properties_of(definition: Definition, job: Job) -> dict[str, str]:
    """The table properties of a definition; the catalog is the first one in which the others were so."""
    schema = definition.schema
    return {
        DEFINITION: definition.xid,
        VERSION: definition.version,
        SCHEMA: (schema.place or schema.reference or schema.format) if schema else "",
        SCHEMA_VERSION: schema.version if schema else "",
        CATALOG: job.catalog,
    }


def renew_properties(delta: DeltaTable, table: TableCommit) -> bool:
    """Bring properties and description of a table up to date with its definition; says whether anything changed."""
    if not table.properties:
        return False
    present, changed = delta.metadata(), False
    if any(present.configuration.get(name) != value for name, value in table.properties.items() if name != CATALOG):
        delta.alter.set_table_properties(table.properties, raise_if_not_exists=False)
        changed = True
    if table.description and present.description != table.description:
        delta.alter.set_table_description(table.description)
        changed = True
    return changed


def statistics_columns(schema: str) -> str:
    """The columns of which a new table has statistics; `schema` is Delta's own JSON."""
    return ",".join(field["name"] for field in msgspec.json.decode(schema)["fields"] if field["name"] in SOUGHT)


def statistics(file: AddedFile, columns: str) -> str:
    """What a log says of a file, where its table names these columns."""
    said: dict[str, object] = {"numRecords": file.rows}
    names = columns.split(",")
    # All columns or none: somebody may have named others.
    if file.bounds and SOUGHT.issuperset(names):
        known = {name: file.bounds.get(name, ColumnBound(file.rows)) for name in names}
        said["minValues"] = {name: bound.least for name, bound in known.items() if bound.least is not None}
        said["maxValues"] = {name: bound.greatest for name, bound in known.items() if bound.greatest is not None}
        said["nullCount"] = {name: bound.nulls for name, bound in known.items()}
    return msgspec.json.encode(said).decode()
