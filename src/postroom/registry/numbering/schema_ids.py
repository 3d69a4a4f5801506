"""The ids of schemas in one Group: which id means what, and which Versions have it.

An id means one content (format, document, references, metadata and rules) for ever, in all Versions that have this
content. It is given with the write that brings the content, or stated there, because another registry gave it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from postroom.model import schema_content
from postroom.registry.entities import Entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.rules import Rules
from postroom.registry.transaction_interface import Transaction

SCHEMA_IDS, GUID = "schemaids", "schemaguid"
FIRST_ID = 100_001
"""Small numbers are met by chance at the beginning of payloads, and were given by the registries one comes from."""
HIGHEST_COUNTED = 1_000_000_000
"""Stated ids beyond that leave the next id as it is."""

_ID, _CONTENT, _GUID, _NEXT, _USE, _REFERENCE = (
    "schemaid",
    "schemacontent",
    "schemaguid",
    "schemanextid",
    "schemause",
    "schemareference",
)
_SEPARATOR = "#"  # no id has it
_PAGE = 100


class IdMeaning(msgspec.Struct, frozen=True, array_like=True):
    """What an id stands for, by the digest of the content, and whether this registry gave it."""

    content: str
    is_given: bool


class SchemaUse(msgspec.Struct, frozen=True):
    """A Version that has an id; of one that was deleted and is kept, its number."""

    resource: str
    versionid: str
    deleted: int = 0


_READ_MEANING = msgspec.msgpack.Decoder(IdMeaning)  # at import: threads may not describe a type together


def content_digest(rules: Rules, version: Entity) -> str:
    """What a Version says, as 32 hexadecimal digits; empty when it is no schema that gets an id."""
    form, document = version.attributes.get("format"), version.document
    if not isinstance(form, str) or document is None or not document.content:
        return ""
    identity = rules.schema_identity(form, document.content)
    if identity is None:
        return ""
    return schema_content.content_digest(identity, schema_content.qualifiers(version.attributes))


def guid_of(version: Entity, content: str) -> str:
    """The GUID of a schema: the one that is stated, or what follows from the content."""
    stated = version.attributes.get(GUID)
    return stated if isinstance(stated, str) else schema_content.content_guid(content)


def stated_ids(version: Entity | None) -> list[int]:
    """The ids that a Version has, as far as they are numbers."""
    given = version.attributes.get(SCHEMA_IDS) if version is not None else None
    found = given if isinstance(given, list) else []
    return list(dict.fromkeys(one for one in found if isinstance(one, int) and not isinstance(one, bool)))


class SchemaIds:
    """The ids of one Group, in a transaction. The records know nothing of who may read what."""

    def __init__(self, tx: Transaction, group: str) -> None:
        self._tx = tx
        self._group = group
        self._known_next = 0

    def meaning(self, schema_id: int) -> IdMeaning | None:
        """What an id means, or meant once."""
        found = self._tx.record(_ID, self._key(schema_id))
        return _READ_MEANING.decode(found) if found else None

    def id_of(self, content: str) -> int | None:
        """The id of a content, whether or not a Version has it at present."""
        found = self._tx.record(_CONTENT, f"{content}{_SEPARATOR}{self._group}")
        return int(found) if found else None

    def id_of_guid(self, guid: str) -> int | None:
        """The id of the schema with a GUID."""
        found = self._tx.record(_GUID, f"{guid.lower()}{_SEPARATOR}{self._group}")
        return int(found) if found else self.id_of(guid.lower().replace("-", ""))

    def give(self, content: str) -> int:
        """The id of a content, a new one unless it has one."""
        known = self.id_of(content)
        if known is not None:
            return known
        schema_id = self._next()
        while schema_id > HIGHEST_COUNTED and self.meaning(schema_id) is not None:
            schema_id += 1
        self._begin_at(schema_id + 1)
        self._mean(schema_id, IdMeaning(content, is_given=True), is_first=True)
        return schema_id

    def claim(self, schema_id: int, content: str, use: SchemaUse, *, had: bool) -> None:
        """Let an id that is stated mean a content; refused when it means something else.

        A Version that `had` an id which another registry gave may say anew what it means, as long as it alone has it.
        """
        meant = self.meaning(schema_id)
        if meant is not None and meant.content == content:
            return
        if meant is not None:
            others = any(one != use for one in self.uses(schema_id))
            if meant.is_given or others or not had:
                subject = f"/schemagroups/{self._group}/schemas/{use.resource}/versions/{use.versionid}"
                raise RegistryProblem("schema_id_taken", subject, id=schema_id, detail=self._taken_detail(schema_id))
        if self._next() <= schema_id <= HIGHEST_COUNTED:
            self._begin_at(schema_id + 1)
        self._mean(schema_id, IdMeaning(content, is_given=False), is_first=self.id_of(content) is None)

    def claim_guid(self, guid: str, schema_id: int, use: SchemaUse) -> None:
        """Let a GUID that is stated mean the schema with an id; refused when one that is in use has it."""
        known = self.id_of_guid(guid)
        if known is not None and known != schema_id and any(one != use for one in self.uses(known)):
            subject = f"/schemagroups/{self._group}/schemas/{use.resource}/versions/{use.versionid}"
            raise RegistryProblem("schema_id_taken", subject, id=guid, detail=self._taken_detail(known))
        if known != schema_id:
            self._tx.put_record(_GUID, f"{guid.lower()}{_SEPARATOR}{self._group}", str(schema_id).encode())

    def uses(self, schema_id: int) -> Iterator[SchemaUse]:
        """The Versions that have an id, those that were deleted and are kept included."""
        for key, _ in with_prefix(self._tx, _USE, self._key(schema_id) + _SEPARATOR):
            resource, version_id, *deleted = key.split(_SEPARATOR)[2:]
            yield SchemaUse(resource, version_id, int(deleted[0]) if deleted else 0)

    def ids(self) -> Iterator[int]:
        """All ids that mean something, or did."""
        for key, _ in with_prefix(self._tx, _ID, self._group + _SEPARATOR):
            yield int(key.rpartition(_SEPARATOR)[2])

    def use(self, schema_id: int, use: SchemaUse) -> None:
        """Note that a Version has an id."""
        self._tx.put_record(_USE, self._use_key(schema_id, use), b"")

    def release(self, schema_id: int, use: SchemaUse) -> None:
        """Note that a Version does not have an id any more; what it means stays."""
        self._tx.delete_record(_USE, self._use_key(schema_id, use))

    def _next(self) -> int:
        if not self._known_next:
            found = self._tx.record(_NEXT, self._group)
            self._known_next = int(found) if found else FIRST_ID
        return self._known_next

    def _begin_at(self, schema_id: int) -> None:
        self._known_next = schema_id
        self._tx.put_record(_NEXT, self._group, str(schema_id).encode())

    def _mean(self, schema_id: int, meaning: IdMeaning, *, is_first: bool) -> None:
        self._tx.put_record(_ID, self._key(schema_id), msgspec.msgpack.encode(meaning))
        if is_first:
            self._tx.put_record(_CONTENT, f"{meaning.content}{_SEPARATOR}{self._group}", str(schema_id).encode())

    def _taken_detail(self, schema_id: int) -> str:
        xids = (f"/schemagroups/{self._group}/schemas/{one.resource}" for one in self.uses(schema_id))
        shown = next((xid for xid in xids if self._tx.permissions.read.covers(xid)), "")
        whose = f"It is an id of {shown}. " if shown else ""
        return f"{whose}In one group an id means one schema for ever. Use another group, or leave the id to the server."

    def _key(self, schema_id: int) -> str:
        return f"{self._group}{_SEPARATOR}{schema_id:020d}"

    def _use_key(self, schema_id: int, use: SchemaUse) -> str:
        place = f"{self._key(schema_id)}{_SEPARATOR}{use.resource}{_SEPARATOR}{use.versionid}"
        return f"{place}{_SEPARATOR}{use.deleted:010d}" if use.deleted else place


def groups_with_guid(tx: Transaction, guid: str) -> set[str]:
    """The Groups in which a GUID means something."""
    plain = guid.lower()
    found = with_prefix(tx, _GUID, plain + _SEPARATOR), with_prefix(tx, _CONTENT, plain.replace("-", "") + _SEPARATOR)
    return {key.rpartition(_SEPARATOR)[2] for several in found for key, _ in several}


def put_reference(tx: Transaction, target: str, version: str) -> None:
    """Note that a Version states a reference to another one."""
    tx.put_record(_REFERENCE, target + _SEPARATOR + version, b"")


def delete_reference(tx: Transaction, target: str, version: str) -> None:
    """Note that it does not any more."""
    tx.delete_record(_REFERENCE, target + _SEPARATOR + version)


def referring_versions(tx: Transaction, target: str) -> list[str]:
    """The xids of the Versions that state a reference to one."""
    return [key.partition(_SEPARATOR)[2] for key, _ in with_prefix(tx, _REFERENCE, target + _SEPARATOR)]


def with_prefix(tx: Transaction, kind: str, prefix: str) -> Iterator[tuple[str, bytes]]:
    """The records of a kind whose ids begin alike."""
    after = prefix
    while True:
        page = tx.records(kind, after, _PAGE)
        for key, body in page:
            if not key.startswith(prefix):
                return
            yield key, body
        if len(page) < _PAGE:
            return
        after = page[-1][0]
