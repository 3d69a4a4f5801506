"""Which columns a table has, and where each value comes from (CONTRACT "The lake")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from postroom.formats.column_types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    INT64,
    STRING,
    TIMESTAMP,
    ColumnType,
    Field,
    ListOf,
    MapOf,
    StructOf,
)
from postroom.formats.naming import column_names
from postroom.messages.definitions.definition import Constraint, Definition
from postroom.messages.definitions.templates import compile_template, has_placeholder
from postroom.pipeline.lake.folder_names import folder_of

DEAD_LETTERS = "_dead_letters"
LEDGER = "_ledger"
RECORDS = "_records"
# Tables beside those of landed messages that batches write to.
BESIDE = frozenset({DEAD_LETTERS, RECORDS})

Origin = Literal["attribute", "variable", "metadata", "data", "control"]

# Attributes that any CloudEvent may carry, declared or not; others that nobody declared go to `_extensions`.
CLOUDEVENT = {
    "specversion": "string",
    "id": "string",
    "source": "string",
    "type": "string",
    "subject": "string",
    "time": "timestamp",
    "datacontenttype": "string",
    "dataschema": "string",
}

_TYPES = {"boolean": BOOLEAN, "integer": INT64, "number": DOUBLE, "timestamp": TIMESTAMP, "datetime": TIMESTAMP}


class Column(msgspec.Struct, frozen=True):
    """One column: its name and type, and which member of what it shows."""

    name: str
    type: ColumnType
    origin: Origin = "control"
    member: str = ""
    description: str = ""


class Layout(msgspec.Struct, frozen=True):
    """The columns of the table of one definition."""

    folder: str
    columns: tuple[Column, ...]


CONTROL = (
    Column("_extensions", MapOf(STRING), description="Envelope attributes that the definition does not declare."),
    Column("_protocol", STRING, description="The protocol that the message came by."),
    Column("_channel", STRING, description="Topic, subject, path or address that the message was sent to."),
    Column("_key", BINARY, description="The bytes of the message's key."),
    Column("_sent_at", TIMESTAMP, description="When the message was sent, as the broker or its sender says."),
    Column("_extra", STRING, description="Headers, properties and other metadata that no column has, as JSON."),
    Column("_rescued", STRING, description="Members of the payload that no column has, as JSON."),
    Column("_record_id", STRING, description="Where the message came from: source, position, index in a batch."),
    Column("_definition", STRING, description="xid of the message definition."),
    Column("_definition_version", STRING),
    Column("_schema_version", STRING, description="Version of the payload schema that wrote the payload."),
    Column("_schema_id", STRING, description="Schema id or fingerprint in front of the payload."),
    Column("_checked", BOOLEAN, description="False when the payload schema could not be had."),
    Column("_landed_at", TIMESTAMP),
    Column("_source", STRING),
    Column("_position", INT64, description="Byte where the record's line begins in its file."),
    Column("_batch", STRING),
)

# Columns with nothing in them for many a message: an empty one costs as much to write as another.
SELDOM = frozenset(
    {
        *("_extensions", "_schema_id", "_protocol", "_channel", "_key", "_sent_at", "_extra", "_rescued"),
        *("record", "kafka"),
    }
)

_REASON = StructOf(tuple(Field(name, name, STRING) for name in ("message", "at", "code", "expected", "found")))
_TRIED = StructOf(tuple(Field(name, name, STRING) for name in ("message", "version")))

DEAD_LETTER_COLUMNS = (
    Column("_record_id", STRING),
    Column("outcome", STRING),
    Column("message", STRING, description="The definition that an invalid message addresses."),
    Column("reasons", ListOf(_REASON)),
    Column("candidates", ListOf(STRING)),
    Column("versions", ListOf(_TRIED), description="The definitions that were tried and their versions."),
    Column("record", BINARY, description="The exact bytes of the record."),
    Column("index", INT64, description="Which message of a batch, from 0."),
    Column("_source", STRING),
    Column("_position", INT64),
    Column("_catalog", STRING, description="Digest of the catalog that was tried."),
    Column("_batch", STRING),
    Column("_dead_at", TIMESTAMP),
)

_HEADER = StructOf((Field("key", "key", STRING), Field("value", "value", BINARY)))
_KAFKA = (
    *(("topic", STRING), ("partition", INT64), ("offset", INT64), ("key", BINARY), ("value", BINARY)),
    *(("timestamp", TIMESTAMP), ("headers", ListOf(_HEADER))),
)

RECORD_COLUMNS = (
    Column("_record_id", STRING, description="The id of the record; messages of a batch have their number behind it."),
    Column("record", BINARY, description="The exact bytes of a record that came as a line, or as columns of one."),
    Column(
        "kafka",
        StructOf(tuple(Field(name, name, kind) for name, kind in _KAFKA)),
        description="A record that came in the columns of Kafka, as it was there.",
    ),
    Column("_source", STRING),
    Column("_position", INT64),
    Column("_batch", STRING),
    Column("_kept_at", TIMESTAMP),
)


def table_folder(xid: str) -> str:
    """Where in the lake the table of a definition lies."""
    collection, _, rest = xid.removeprefix("/").partition("/")
    group, _, message = rest.partition("/messages/")
    parts = [folder_of(group), folder_of(message)]
    return "/".join(["_endpoints", *parts] if collection == "endpoints" else parts)


def layout_of(definition: Definition, data: ColumnType) -> Layout:
    """The table of a definition whose payload has the given type."""
    own = [*_attribute_columns(definition), *_variable_columns(definition), *_metadata_columns(definition)]
    fixed = (Column("data", data, "data", description=definition.description), *CONTROL)
    # The fixed names come first, so that no declared name can take one of them.
    names = column_names([column.name for column in (*fixed, *own)])[len(fixed) :]
    named = [msgspec.structs.replace(column, name=name) for column, name in zip(own, names, strict=True)]
    return Layout(table_folder(definition.xid), (*named, *fixed))


def metadata_member(constraint: Constraint) -> str:
    """The name under which the engine hands out the value of a declared option."""
    return "_".join(constraint.path)


def _attribute_columns(definition: Definition) -> Iterator[Column]:
    if not definition.envelope:
        return
    declared = {constraint.path[-1]: constraint for constraint in definition.envelope_constraints}
    for name in dict.fromkeys((*CLOUDEVENT, *declared)):
        constraint = declared.get(name)
        type_name = constraint.type if constraint else CLOUDEVENT[name]
        yield Column(
            f"ce_{name}", _column_type(type_name), "attribute", name, constraint.description if constraint else ""
        )


def _variable_columns(definition: Definition) -> Iterator[Column]:
    names: dict[str, None] = {}
    for constraint in (*definition.envelope_constraints, *definition.protocol_constraints):
        # A timestamp with a placeholder demands only a timestamp and binds nothing (DESIGN "Matching rules").
        if has_placeholder(constraint.value) and constraint.type != "timestamp":
            names.update(dict.fromkeys(compile_template(constraint.value).names))
    return (Column(f"var_{name}", STRING, "variable", name) for name in names)


def _metadata_columns(definition: Definition) -> Iterator[Column]:
    members = {metadata_member(constraint): constraint for constraint in definition.protocol_constraints}
    for member, constraint in members.items():
        yield Column(f"meta_{member}", _column_type(constraint.type), "metadata", member, constraint.description)


def _column_type(type_name: str) -> ColumnType:
    return _TYPES.get(type_name.lower(), STRING)
