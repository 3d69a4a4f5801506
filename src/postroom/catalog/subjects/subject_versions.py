"""Which subjects of a schema registry wrote the payloads of a catalog.

A subject that the catalog refers to and does not have is added to it. A schema that the catalog has gets the ids and
the versions of its subject. What comes of it is part of the compiled catalog, so that workers ask no registry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from postroom.catalog.subjects.schema_registry import Held, Tree
from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.format_table import parse_schema
from postroom.formats.schema import NamedSchema
from postroom.formats.schema_identity import document_bytes, numbered_type, schema_identity
from postroom.messages.definitions.definition import CompiledCatalog, Definition, SchemaSource, StoredSchema
from postroom.messages.definitions.schema_documents import SchemaDocuments
from postroom.messages.definitions.schema_sources import stored_schemas
from postroom.registry.numbering.subjects import EXACT_NAME, Contexts, Subject, escaped_id, parse_subject
from postroom.settings import Settings

FORMATS = {"AVRO": "Avro/1.12", "JSON": "JsonSchema/draft-07", "PROTOBUF": "Protobuf/3"}
"""Formats of schemas by their types. What a document says of its draft or syntax counts before this."""
PROTO2 = "Protobuf/2"
_PATTERNS = {"topic": ("{topic}-value",), "record": ("{record}",), "topic_record": ("{topic}-{record}",)}
_ANY = tuple(pattern for patterns in _PATTERNS.values() for pattern in patterns)


def format_of(kind: str, text: str) -> str:
    """The format of a schema of some type."""
    return PROTO2 if kind == "PROTOBUF" and "proto3" not in text else FORMATS[kind]


class SubjectVersions:
    """The subjects of a schema registry as schemas of a catalog, each context a group."""

    def __init__(self, held: Held, settings: Settings) -> None:
        self._contexts = Contexts(settings.schema_registry_group)
        self._patterns = _PATTERNS.get(settings.subject_names, _ANY)
        self._groups: dict[str, dict[str, Tree]] = {}
        """Schemas by group and id."""
        for (name, number), tree in sorted(held.versions.items()):
            if tree["schemaType"] in FORMATS:
                self._add(parse_subject(name), number, tree, is_deleted=(name, number) in held.deleted)

    def _add(self, subject: Subject, number: int, tree: Tree, *, is_deleted: bool) -> None:
        schemas = self._groups.setdefault(self._contexts.group(subject.context), {})
        schema = schemas.setdefault(escaped_id(subject.name), {"versions": {}, "meta": {}})
        references = [
            {"name": one["name"], "xid": self._version_path(parse_subject(one["subject"], subject.context), one)}
            for one in tree.get("references", ())
        ]
        schema["versions"][str(number)] = {
            "format": format_of(tree["schemaType"], tree["schema"]),
            "schema": tree["schema"],
            "schemaids": [tree["id"]],
            EXACT_NAME: subject.name,
            **({"references": references} if references else {}),
            **({"schemaguid": tree["guid"]} if "guid" in tree else {}),
        }
        if not is_deleted or not schema["meta"]:
            schema["meta"] = {"defaultversionid": str(number)}

    def _version_path(self, subject: Subject, reference: Tree) -> str:
        group = self._contexts.group(subject.context)
        return f"/schemagroups/{group}/schemas/{escaped_id(subject.name)}/versions/{reference['version']}"

    def added_to(self, tree: Tree) -> Tree:
        """A catalog with the subjects that it does not have as schemas."""
        groups = dict(tree.get("schemagroups") or {})
        for group, schemas in self._groups.items():
            own = groups.get(group) or {}
            groups[group] = {**own, "schemas": {**schemas, **(own.get("schemas") or {})}}
        return {**tree, "schemagroups": groups}

    def known_to(self, compiled: CompiledCatalog) -> CompiledCatalog:
        """A compiled catalog whose schemas have the ids and the versions of their subjects."""
        every = stored_schemas({"schemagroups": {g: {"schemas": s} for g, s in self._groups.items()}}, self._groups)
        joined = _Joined(compiled, every)
        definitions = tuple(self._known(definition, joined) for definition in compiled.definitions)
        return msgspec.structs.replace(compiled, definitions=definitions, schemas=joined.schemas)

    def _known(self, definition: Definition, joined: _Joined) -> Definition:
        source = definition.schema
        if source is None or source.missing or not numbered_type(source.format):
            return definition
        paths = list(self._found(definition, source, joined))
        if (home := _home(source.place)) in joined.theirs:
            # It has all of its own. What the topic may hold may be said by a union of records, too.
            paths = [path for path in paths if path != home and any(map(_is_union, joined.theirs[path]))]
        return msgspec.structs.replace(definition, schema=joined.join(definition.xid, source, paths))

    def _found(self, definition: Definition, source: SchemaSource, joined: _Joined) -> Iterator[str]:
        """The schemas that are subjects of a definition by their names, in the default context."""
        names = {"topic": definition.topic, "record": joined.record_name(source)}
        group = self._contexts.group(".")
        for pattern in self._patterns:
            if all(value or f"{{{name}}}" not in pattern for name, value in names.items()):
                path = f"/schemagroups/{group}/schemas/{escaped_id(pattern.format(**names))}"
                if path in joined.theirs:
                    yield path


class _Joined:
    """The documents of a catalog and those of a registry, put together schema by schema."""

    def __init__(self, compiled: CompiledCatalog, every: dict[str, StoredSchema]) -> None:
        self.theirs = {home: [every[path] for path in paths] for home, paths in _by_schema(every).items()}
        self._own = _by_schema(compiled.schemas)
        only_theirs = {path: stored for path, stored in every.items() if _home(path) not in self._own}
        self.schemas = {**only_theirs, **compiled.schemas}
        for home in self._own.keys() & self.theirs.keys():
            self._join(home, home)
        self._documents = SchemaDocuments(self.schemas)

    def record_name(self, source: SchemaSource) -> str:
        """The name of a schema; empty where it has none, or cannot be read."""
        document, library = self._documents.of(source)
        try:
            parsed = parse_schema(source.format, document, source.fragment, library)
        except (SchemaRefused, FormatUnknown):
            return ""
        return parsed.full_name() if isinstance(parsed, NamedSchema) else ""

    def join(self, xid: str, source: SchemaSource, paths: list[str]) -> SchemaSource:
        """Give a schema the versions at some paths, and a place of its own if it has none."""
        if not paths:
            return source
        place = source.place
        if not place:
            # It has no neighbours there: a schema that is written in a definition refers to none.
            place = f"/dataschema/{xid.strip('/').replace('/', ':')}/schema"
            self.schemas[place] = StoredSchema(format=source.format, version="", document=source.document)
            self._own[place] = [place]
        for path in paths:
            self._join(_home(place), path)
        version = source.version or self.schemas[place].version
        return msgspec.structs.replace(source, place=place, document=None, version=version)

    def _join(self, home: str, theirs: str) -> None:
        own = self._own[home]
        known = {_identity(self.schemas[path]): path for path in reversed(own)}
        names = {self.schemas[path].version for path in own}
        for stored in self.theirs[theirs]:
            path = known.get(_identity(stored))
            if path is not None:
                self.schemas[path] = _with_ids(self.schemas[path], stored)
                continue
            name = stored.version if stored.version not in names else f"{theirs.rpartition('/')[2]}/{stored.version}"
            names.add(name)
            own.append(f"{home}/versions/{name}")
            self.schemas[own[-1]] = msgspec.structs.replace(stored, version=name)


def _is_union(stored: StoredSchema) -> bool:
    return (
        numbered_type(stored.format) == "AVRO"
        and isinstance(stored.document, str)
        and stored.document.lstrip()[:1] == "["
    )


def _home(path: str) -> str:
    return path.partition("/versions/")[0]


def _by_schema(stored: Mapping[str, StoredSchema]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in stored:
        found.setdefault(_home(path), []).append(path)
    return found


def _with_ids(mine: StoredSchema, same: StoredSchema) -> StoredSchema:
    """A version that a registry has as well, with the ids that it has there."""
    ids = tuple(dict.fromkeys((*mine.ids, *same.ids)))
    return msgspec.structs.replace(mine, ids=ids, guid=mine.guid or same.guid, version=mine.version or same.version)


def _identity(stored: StoredSchema) -> bytes | None:
    if stored.document is None:
        return stored.version.encode()
    return schema_identity(stored.format, document_bytes(stored.format, stored.document))
