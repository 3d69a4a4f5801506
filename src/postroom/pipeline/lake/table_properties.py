"""What a table says about itself: which definition and schema its columns come from, in which catalog."""

from __future__ import annotations

from deltalake import DeltaTable

from postroom.messages.definitions.definition import Definition
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.manifest import TableCommit

DEFINITION = "postroom.definition"
VERSION = "postroom.definition.version"
SCHEMA = "postroom.schema"
SCHEMA_VERSION = "postroom.schema.version"
CATALOG = "postroom.catalog.catalog"


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
