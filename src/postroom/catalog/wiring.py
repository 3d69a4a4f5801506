"""Rules of messages and formats for registries: what a store is opened with, beyond what its model can say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from postroom.errors import FormatUnknown, ReferenceMissing, SchemaRefused
from postroom.formats.compatibility import MODES, compatible
from postroom.formats.format_table import FAMILIES, check_schema, readable_documents
from postroom.formats.schema import LibraryDocument, Verdict
from postroom.formats.schema_identity import schema_identity
from postroom.formats.schema_library import CatalogLibrary
from postroom.formats.schema_properties import schema_properties
from postroom.messages.definitions.catalog_tree import local_path
from postroom.messages.definitions.inheritance import base_reference
from postroom.messages.definitions.registry_rules import check_endpoint, read_endpoint, read_version
from postroom.messages.definitions.schema_sources import schema_reference
from postroom.registry.rules import GroupRules, Judgement, PayloadReference, ReferencedDocument, Rules, Surroundings
from postroom.settings import Settings

COMPATIBILITY_MODES = tuple(sorted(set(MODES) - {"none"}))


def _patterns() -> Iterator[str]:
    names = [name.lower() for family in FAMILIES for name in (family.name, *family.aliases)]
    for name in names:
        # `proto*` would mean Protobuf as well, which has its own line.
        if any(other != name and other.startswith(name) for other in names):
            yield from (name, f"{name}/*")
        else:
            yield f"{name}*"


_OFFERED = dict.fromkeys(sorted(_patterns()), COMPATIBILITY_MODES)


class PayloadFormats:
    """The payload formats, as a registry checks and compares documents with them."""

    def __init__(self, is_strict: bool = False) -> None:
        self._is_strict = is_strict

    @property
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        """Every name of every format, in all versions."""
        return _OFFERED

    def check(self, name: str, content: bytes, around: Surroundings) -> Judgement:
        """Whether a document is a schema of its format."""
        library = _RecordingLibrary(around)
        try:
            if not content:
                return Judgement("no", "an empty document is not a schema of this format.")
            check_schema(name, content, library)
        except ReferenceMissing as error:
            return Judgement("unknown", str(error), dangling=True)
        except SchemaRefused as error:
            return Judgement("no", str(error), dangling=library.missed)
        except FormatUnknown as error:
            return Judgement("unknown", str(error))
        return Judgement("yes")

    def compare(
        self,
        name: str,
        older: list[ReferencedDocument],
        newer: bytes,
        rule: str,
        around: Surroundings,
        *,
        is_strict: bool = False,
    ) -> Judgement:
        """Whether payloads of the versions can be read as the rule says."""
        written = ReferencedDocument(around.xid, newer, around.references)
        libraries = {one: _RecordingLibrary(_seen_from(one, around)) for one in (*older, written)}

        def reads(writer: ReferencedDocument, reader: ReferencedDocument) -> Verdict:
            sides = ((name, one.content, libraries[one]) for one in (writer, reader))
            return readable_documents(*sides, is_strict=is_strict or self._is_strict)

        try:
            verdict = compatible(older, written, rule, reads)
        except (SchemaRefused, FormatUnknown) as error:
            return Judgement("unknown", str(error), dangling=any(library.missed for library in libraries.values()))
        if verdict.answer == "compatible":
            return Judgement("yes")
        shown = f" For example: {verdict.shown}" if verdict.shown else ""
        return Judgement("no" if verdict.answer == "incompatible" else "unknown", f"{verdict.reason}{shown}")

    def properties(self, name: str, content: bytes) -> tuple[tuple[str, str], ...]:
        """The properties that a schema describes by itself."""
        return schema_properties(name, content)


class _RecordingLibrary(CatalogLibrary):
    """The documents of a registry; remembers whether one was missing."""

    def __init__(self, around: Surroundings) -> None:
        super().__init__(around.xid, partial(_read, around), around.names, references=around.references)
        self.missed = False

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        """The document that a reference means."""
        found = super().find(reference, base)
        self.missed = self.missed or found is None
        return found


def payload_reference(version: Mapping[str, Any]) -> PayloadReference:
    """What a message says of its payloads, by itself: its schema, and the message that it derives from."""
    message = dict(version)
    reference, base = (_resource(one) for one in (schema_reference(message), base_reference(message)))
    written = message.get("dataschema")
    if written is None:
        return PayloadReference(schema=reference, base=base)
    document = written.encode() if isinstance(written, str) else msgspec.json.encode(written)
    return PayloadReference(base=base, form=str(message.get("dataschemaformat") or ""), document=document)


def _resource(reference: str) -> str:
    """The xid of the Resource that a reference means, or one in whose Version or document it leads to; else empty."""
    path = local_path(reference, {}) if reference.startswith(("/", "#/")) else None
    steps = (path or "").partition("#")[0].split("/")
    return "/".join([*steps[:4], steps[4].partition(":")[0]]) if len(steps) > 4 else ""


def library_of(around: Surroundings) -> CatalogLibrary:
    """The documents that the document of a Version may refer to, as the formats look for them."""
    return _RecordingLibrary(around)


def _seen_from(document: ReferencedDocument, around: Surroundings) -> Surroundings:
    return msgspec.structs.replace(around, xid=document.xid, references=document.references)


def _read(around: Surroundings, path: str) -> LibraryDocument | None:
    found = around.read(path)
    return None if found is None else LibraryDocument(found.xid, found.content, found.references)


# Lint loads much that a store does without, so it is imported when something is written.
def _lint(tx: Any, xids: Iterable[str]) -> list[Any]:
    from postroom.catalog.entity_lint import lint_entities

    return lint_entities(tx, xids)


def _refuse_errors(tx: Any, before: Mapping[str, Any]) -> None:
    from postroom.catalog.entity_lint import refuse_errors

    refuse_errors(tx, before)


# C-07, C-26: a Version without the attribute takes its group's value instead of failing the `equals` constraint.
RULES = Rules(
    groups={
        ("schemagroups", "schemagroup"): GroupRules(inherited=frozenset({"schemas.format"})),
        ("messagegroups", "messagegroup"): GroupRules(inherited=frozenset({"messages.envelope", "messages.protocol"})),
        ("endpoints", "endpoint"): GroupRules(read=read_endpoint, check=check_endpoint),
    },
    read_version=read_version,
    payload=payload_reference,
    documents=PayloadFormats(),
    schema_identity=schema_identity,
    lint=_lint,
)


def rules_of(settings: Settings) -> Rules:
    """The rules of a store as settings want them."""
    rules = msgspec.structs.replace(RULES, documents=PayloadFormats(settings.strict_compatibility))
    return msgspec.structs.replace(rules, guard=_refuse_errors) if settings.write_rules == "strict" else rules
