"""What rules look at: the messages, schemas and endpoints of a document, each with its place in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from postroom.documents.lint.members import section, text
from postroom.documents.lint.written_properties import Property, envelope_properties, option_properties
from postroom.errors import DefinitionRefused
from postroom.messages.definitions.catalog_tree import (
    CatalogMessage,
    Tree,
    catalog_messages,
    default_version,
    local_path,
    members,
)
from postroom.messages.definitions.compile import compile_chain
from postroom.messages.definitions.definition import Definition, SchemaSource
from postroom.messages.definitions.inheritance import Chain, chain_of, envelope_of, merged, normalise
from postroom.messages.definitions.schema_sources import schema_source
from postroom.messages.matching.definition_matcher import DefinitionMatcher
from postroom.model.json_pointers import pointer
from postroom.protocols.cloudevents import ENVELOPE
from postroom.protocols.protocol import Wire
from postroom.protocols.protocol_table import canonical_protocol, wire_named

COLLECTIONS = {"messagegroups": "messages", "schemagroups": "schemas", "endpoints": "messages"}


class LintedResource:
    """A message or schema as the document has it: `own` is its default Version with what stands around it."""

    def __init__(self, steps: tuple[str, ...], raw: Tree, own: Tree | None = None) -> None:
        self.steps = steps
        self.raw = raw
        self.own = default_version(raw) if own is None else own

    @property
    def xid(self) -> str:
        """The path of the entity."""
        return "/" + "/".join(self.steps)

    @property
    def meta(self) -> Tree:
        """What is said of the Resource, and not of a Version."""
        return section(self.raw, "meta")

    @property
    def borrowed(self) -> bool:
        """Whether it stands for another one, which is judged where it is."""
        return isinstance(self.meta.get("xref"), str)

    @cached_property
    def _version(self) -> tuple[tuple[str, ...], Tree]:
        name = str(self.own.get("versionid"))
        found = members(self.raw, "versions").get(name)
        return (("versions", name), found) if found is not None else ((), {})

    @cached_property
    def _place(self) -> str:
        return pointer(self.steps)

    def at(self, *steps: object) -> str:
        """The pointer to a member of the default Version, wherever the document has it."""
        inside, version = self._version
        return self._place + pointer((*inside, *steps) if steps and steps[0] in version else steps)


class LintedMessage(LintedResource):
    """A message definition: what its author wrote, and what becomes of it with its bases."""

    def __init__(self, tree: Tree, entry: CatalogMessage) -> None:
        raw = entry.owner["messages"][entry.id]
        super().__init__((entry.owner_type, entry.owner_id, "messages", entry.id), raw, entry.message)
        self.tree = tree
        self.entry = entry
        self.refusal: DefinitionRefused | None = None
        self.chain: Chain = []
        """The message and its bases, each as its author wrote it, in the shape that is expected."""
        try:
            self.chain = chain_of(tree, entry)
        except DefinitionRefused as error:
            self.refusal = error
        self.effective = merged(self.chain)
        self.bases = tuple(xid for xid, _ in self.chain[1:])

    @property
    def group(self) -> tuple[str, str]:
        """Kind and id of what the message belongs to."""
        return self.entry.owner_type, self.entry.owner_id

    @property
    def written(self) -> Tree:
        """The message itself in the shape that is expected, without its bases."""
        return self.chain[0][1] if self.chain else normalise(self.entry)

    @cached_property
    def definition(self) -> Definition | None:
        """The compiled definition; None where there is none, and `refusal` says why."""
        if self.borrowed or self.refusal is not None:
            return None
        try:
            return compile_chain(self.tree, self.entry, self.chain)
        except DefinitionRefused as error:
            self.refusal = error
            return None

    @cached_property
    def schema(self) -> SchemaSource | None:
        """Where its payload schema is."""
        return schema_source(self.tree, self.effective)

    @cached_property
    def is_event(self) -> bool:
        """Whether its envelope is CloudEvents."""
        return envelope_of(self.effective).lower() == ENVELOPE.lower()

    @cached_property
    def envelope_properties(self) -> list[Property]:
        """The attributes of the envelope that the message itself states."""
        return list(envelope_properties(self)) if envelope_of(self.effective) else []

    @cached_property
    def option_properties(self) -> list[Property]:
        """The protocol options that the message itself states."""
        return list(option_properties(self))

    @cached_property
    def doubtful_properties(self) -> list[Property]:
        """The properties that the message itself states, without those of which no rule finds anything."""
        return [one for one in (*self.envelope_properties, *self.option_properties) if not one.is_plain]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all members of what its author wrote, whatever they are members of, in lower case."""
        found: set[str] = set()
        pending: list[Any] = [self.own]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                found.update(value)
                pending += value.values()
            elif isinstance(value, list):
                pending += value
        return frozenset(map(str.lower, found))

    @cached_property
    def wire(self) -> Wire:
        """The protocol it travels on; one without options where it has none or one we do not know."""
        name = text(self.effective, "protocol")
        return wire_named(name if canonical_protocol(name) else "")


class LintedSchema(LintedResource):
    """A schema with all its Versions."""

    @property
    def versions(self) -> dict[str, Tree]:
        """Its Versions by name; one that is not split up has a single one."""
        found = members(self.raw, "versions")
        return found or {str(self.raw.get("versionid") or "1"): self.raw}

    def version_at(self, name: str, *steps: object) -> str:
        """The pointer to a member of a Version."""
        inside = ("versions", name) if name in members(self.raw, "versions") else ()
        return pointer((*self.steps, *inside, *steps))

    def format_of(self, name: str) -> str:
        """The format of a Version: its own, or that of the schema."""
        return text(self.versions[name], "format") or text(self.raw, "format")


class LintedEndpoint:
    """An endpoint and the groups whose messages it uses."""

    def __init__(self, name: str, raw: Tree) -> None:
        self.steps = ("endpoints", name)
        self.name = name
        self.raw = raw

    @property
    def xid(self) -> str:
        """The path of the endpoint."""
        return "/" + "/".join(self.steps)

    def at(self, *steps: object) -> str:
        """The pointer to a member."""
        return pointer((*self.steps, *steps))


class LintedDocument:
    """A whole catalog document with everything that rules look at."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.messages = [LintedMessage(tree, entry) for entry in catalog_messages(tree)]
        self.by_xid = {message.xid: message for message in self.messages}
        self.schemas = [
            LintedSchema(("schemagroups", group, "schemas", name), schema)
            for group, holder in members(tree, "schemagroups").items()
            for name, schema in members(holder, "schemas").items()
        ]
        self.endpoints = [LintedEndpoint(name, raw) for name, raw in members(tree, "endpoints").items()]

    def target_of(self, message: LintedMessage) -> LintedMessage | None:
        """The message that a borrowed one (xref) stands for, if it is there; any other is its own."""
        if not message.borrowed:
            return message
        return self.by_xid.get(local_path(str(message.meta["xref"]), self.tree) or "")

    @cached_property
    def entities(self) -> list[tuple[tuple[str, ...], Tree]]:
        """Every group, message, schema and endpoint with the way to it."""
        return list(_entities(self.tree))

    @cached_property
    def deprecated(self) -> list[tuple[tuple[str, ...], Tree]]:
        """Every `deprecated` object, with the way to it: on entities themselves, on the meta of what groups hold."""
        found = []
        for steps, entity in self.entities:
            found.append((steps, entity))
            if len(steps) == 4 and "meta" in entity:
                found.append(((*steps, "meta"), section(entity, "meta")))
        stated = (((*steps, "deprecated"), holder.get("deprecated")) for steps, holder in found)
        return [(steps, deprecated) for steps, deprecated in stated if isinstance(deprecated, dict)]

    @cached_property
    def filters(self) -> dict[str, DefinitionMatcher]:
        """All definitions that can be used, as filters, by their xids."""
        found = (message.definition for message in self.messages)
        return {definition.xid: DefinitionMatcher(definition) for definition in found if definition is not None}

    @cached_property
    def bases(self) -> frozenset[str]:
        """The xids of all messages that others derive from."""
        return frozenset(xid for message in self.messages for xid in message.bases)


def _entities(tree: Tree) -> Iterator[tuple[tuple[str, ...], Tree]]:
    for kind, inner in COLLECTIONS.items():
        for name, group in members(tree, kind).items():
            yield (kind, name), group
            for one, resource in members(group, inner).items():
                yield (kind, name, inner, one), resource
