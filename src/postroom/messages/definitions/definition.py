"""Message definitions with their bases merged: what `compile` returns and workers load.

Everything here is a plain frozen value that encodes to JSON, so that a compiled catalog can be written beside the data
that was sorted with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """What a definition says about one attribute, header or option.

    `at` is its JSON pointer in the definition; `path` leads to the value in the envelope or the protocol metadata;
    `origin` is the base message that declares it, where it is not the definition itself; `event_rule` names the
    attribute whose rule in CloudEvents holds as well. A value that the author did not write here is `implied` by the
    member of that name; what `accepts` lists is as good as the value.
    """

    at: str
    path: tuple[str, ...]
    type: str
    value: Any = None
    required: bool = False
    decides: bool = True
    description: str = ""
    origin: str = ""
    event_rule: str = ""
    implied: str = ""
    accepts: tuple[str, ...] = ()


class StoredSchema(msgspec.Struct, frozen=True, kw_only=True):
    """A schema document of the catalog; `ids` are those that registries gave it, `references` its names for others.

    The document of a version outside the catalog is None. `guid` is there where a registry stated one; others follow
    from the document and the `qualifiers`.
    """

    format: str
    version: str
    document: Any
    ids: tuple[int | str, ...] = ()
    references: tuple[tuple[str, str], ...] = ()
    guid: str = ""
    qualifiers: str = ""


class SchemaSource(msgspec.Struct, frozen=True, kw_only=True):
    """The payload schema of a definition, or why it is missing.

    An inline schema is `document`; one of the catalog is among the catalog's schemas under the path `place`.
    """

    format: str
    document: Any = None
    place: str = ""
    fragment: str = ""
    reference: str = ""
    version: str = ""
    missing: str = ""


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """One message definition with its base messages merged in and the implied rules added.

    `contenttype` is that of the data; `message_type` the constraint on the content type of whole messages, where they
    have no envelope or the definition says which one they have around the data; `format` that of events in structured
    mode, where it is stated; `key_schema` the schema of the keys, where the catalog has one and the definition says
    something of them.
    """

    xid: str
    version: str
    group: str
    id: str
    name: str = ""
    description: str = ""
    protocol: str = ""
    envelope: str = ""
    envelope_constraints: tuple[Constraint, ...] = ()
    protocol_constraints: tuple[Constraint, ...] = ()
    contenttype: str = ""
    message_type: Constraint | None = None
    mode: str = ""
    format: str = ""
    schema: SchemaSource | None = None
    key_schema: SchemaSource | None = None
    bases: tuple[str, ...] = ()

    @property
    def topic(self) -> str:
        """The topic of Kafka that the definition fixes; empty where it fixes none."""
        for constraint in self.protocol_constraints if self.protocol == "KAFKA" else ():
            if constraint.path == ("topic",) and isinstance(constraint.value, str) and "{" not in constraint.value:
                return constraint.value
        return ""


class CompiledCatalog(msgspec.Struct, frozen=True):
    """All definitions of a catalog, ready for a worker: self-contained and identified by its digest. Where they are
    those of an endpoint only, `endpoint` names it. Ids in front of payloads have `schema_id_bytes` each."""

    definitions: tuple[Definition, ...]
    schemas: dict[str, StoredSchema] = {}
    assert_formats: bool = False
    endpoint: str = ""
    schema_id_bytes: int = 4

    def constraints(self, xids: Iterable[str]) -> dict[tuple[str, str], Constraint]:
        """The constraints of some definitions, by xid and JSON pointer."""
        chosen = set(xids)
        return {
            (definition.xid, constraint.at): constraint
            for definition in self.definitions
            if definition.xid in chosen
            for constraint in (*definition.envelope_constraints, *definition.protocol_constraints)
        }

    def key_schemas(self) -> dict[str, SchemaSource]:
        """The schemas of keys, by topic."""
        return {one.topic: one.key_schema for one in self.definitions if one.key_schema is not None}

    def encode(self) -> bytes:
        """The catalog as bytes; members of schemas keep the order in which they are declared, which columns have."""
        return msgspec.json.encode(self)

    @property
    def digest(self) -> str:
        """The hash that identifies these definitions and schemas, in whatever order their members are."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:16]

    @classmethod
    def decode(cls, data: bytes) -> CompiledCatalog:
        """Read back what `encode` wrote."""
        return msgspec.json.decode(data, type=cls)
