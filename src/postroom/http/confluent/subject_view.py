"""A subject as it is at present: its versions by number, the deleted ones that are kept, and how each is shown."""

from __future__ import annotations

import base64
from collections.abc import Iterable

import msgspec

from postroom.catalog.wiring import library_of
from postroom.errors import SchemaRefused
from postroom.formats.format_table import format_named
from postroom.formats.protobuf.descriptor_text import descriptor_of
from postroom.formats.schema import SchemaDocument
from postroom.formats.schema_identity import numbered_type
from postroom.http.confluent.call import Call, Tree
from postroom.http.confluent.refusals import problem, refuse
from postroom.model.schema_content import METADATA, RULES, stated_references
from postroom.registry.entities import Entity
from postroom.registry.numbering.numbered_writes import SCHEMAS
from postroom.registry.numbering.schema_ids import content_digest, guid_of, stated_ids
from postroom.registry.numbering.subjects import Subject, find_resource, subject_name
from postroom.registry.numbering.version_numbers import (
    HIGHEST,
    SchemaVersion,
    kept_resources,
    kept_version,
    kept_versions,
    number_of,
)
from postroom.registry.read.referenced_documents import surroundings
from postroom.registry.transaction_interface import Transaction


class SubjectView(msgspec.Struct, frozen=True):
    """A subject with its versions, oldest first."""

    subject: Subject
    resource: str
    """The xid of the schema that it is, or would be."""
    live: list[SchemaVersion]
    deleted: list[SchemaVersion]

    @property
    def all(self) -> list[SchemaVersion]:
        """All versions by their numbers."""
        return sorted([*self.live, *self.deleted], key=lambda one: one.number)

    def versions(self, *, deleted: bool) -> list[SchemaVersion]:
        """The versions, with the deleted ones or without."""
        return self.all if deleted else self.live

    def find(self, text: str, *, deleted: bool = False) -> SchemaVersion:
        """The version that a path names: a number, -1 or `latest`."""
        number = version_number(text)
        candidates = self.versions(deleted=deleted)
        found = candidates[-1:] if number == -1 else [one for one in candidates if one.number == number]
        if not found:
            if not self.versions(deleted=deleted):
                refuse(40401, subject=self.subject)
            refuse(40402, version=text)
        return found[0]


def version_number(text: str) -> int:
    """The number that a path names; -1 for the latest."""
    if text in ("latest", "-1"):
        return -1
    if text.isascii() and text.isdigit() and 1 <= int(text) <= HIGHEST:
        return int(text)
    raise problem(42202, version=text)


def view(call: Call, subject: Subject) -> SubjectView:
    """What there is of a subject that may be read."""
    resource = find_resource(call.tx, call.contexts.group_xid(subject.context), subject.name)
    return SubjectView(subject, resource, live_versions(call.tx, resource), visible_kept(call.tx, resource))


def live_versions(tx: Transaction, resource: str) -> list[SchemaVersion]:
    """The versions of a schema that have an id, oldest first."""
    found = [SchemaVersion(number_of(one), one) for one in tx.entities(f"{resource}/versions") if is_listed(one)]
    return sorted(found, key=lambda one: one.number)


def is_listed(version: Entity) -> bool:
    """Whether a Version is one of a subject: of a known format, with an id and a number."""
    form = version.attributes.get("format")
    return bool(stated_ids(version)) and number_of(version) > 0 and isinstance(form, str) and bool(numbered_type(form))


def visible_kept(tx: Transaction, resource: str) -> list[SchemaVersion]:
    """The deleted versions of a schema that are kept and may be read."""
    return kept_versions(tx, resource) if tx.permissions.read.covers(resource) else []


def read_use(tx: Transaction, group: str, resource: str, version_id: str, deleted: int) -> SchemaVersion | None:
    """The version that has an id; None where it may not be read."""
    xid = f"/schemagroups/{group}/{SCHEMAS}/{resource}"
    if deleted:
        return kept_version(tx, xid, deleted) if tx.permissions.read.covers(xid) else None
    found = tx.entity(f"{xid}/versions/{version_id}")
    return SchemaVersion(number_of(found), found) if found is not None else None


def subjects_of(call: Call, context: str, *, deleted: bool, only_deleted: bool = False) -> Iterable[Subject]:
    """The subjects of a context."""
    tx, group_xid = call.tx, call.contexts.group_xid(context)
    resources = tx.entities(f"{group_xid}/{SCHEMAS}")
    defaults = tx.entities_by_xid([f"{one.xid}/versions/{one.attributes.get('defaultversionid')}" for one in resources])
    live = [xid.rpartition("/versions/")[0] for xid, version in defaults.items() if is_listed(version)]
    kept = kept_resources(tx, group_xid.rpartition("/")[2]) if deleted or only_deleted else []
    kept = [xid for xid in kept if tx.permissions.read.covers(xid)]
    found = [xid for xid in kept if xid not in live] if only_deleted else [*live, *kept]
    names = {subject_name(tx, xid) for xid in found}
    return (Subject(context, name) for name in sorted(names))


def contexts_with_groups(call: Call) -> list[str]:
    """The contexts that are there, the default one first."""
    names = {call.contexts.context(one.id) for one in call.tx.entities("/schemagroups")}
    return sorted({".", *names})


def schema_type(version: Entity) -> str:
    """What schema registries call the format of a Version."""
    return numbered_type(str(version.attributes.get("format")))


def schema_text(call: Call, version: Entity) -> str:
    """The document of a Version, or, where a client asks for it so, its descriptor in base64."""
    content = version.document.content if version.document is not None else b""
    if call.query("format") != "serialized" or schema_type(version) != "PROTOBUF":
        return content.decode("utf-8", "replace")
    known = format_named(str(version.attributes.get("format")))
    around = surroundings(call.tx, version.xid, stated_references(version.attributes))
    source = SchemaDocument(
        document=content, version="" if known is None else known.version, library=library_of(around)
    )
    try:
        return base64.b64encode(descriptor_of(source)).decode()
    except SchemaRefused as error:
        refuse(42201, reason=str(error))


def shown_content(call: Call, version: Entity) -> Tree:
    """What a schema says: type, references, metadata and rules, and the document."""
    text = schema_text(call, version)
    tree: Tree = {"schemaType": schema_type(version)}
    if references := shown_references(call, version):
        tree["references"] = references
    for name, attribute in (("metadata", METADATA), ("ruleSet", RULES)):
        if attribute in version.attributes:
            tree[name] = msgspec.json.decode(version.attributes[attribute])
    return {**tree, "schema": text}


def shown_version(call: Call, subject: Subject, version: SchemaVersion) -> Tree:
    """A version as the API shows it."""
    ids = version.ids
    tree = {"subject": str(subject), "version": version.number, "id": ids[0], "guid": guid(call.tx, version.entity)}
    return {**tree, **shown_content(call, version.entity), **({"deleted": True} if version.is_deleted else {})}


def guid(tx: Transaction, version: Entity) -> str:
    """The GUID of a Version."""
    return guid_of(version, content_digest(tx.rules, version))


def shown_references(call: Call, version: Entity) -> list[Tree]:
    """The references of a Version, by subject and number."""
    own = call.contexts.context(version.xid.split("/")[2])
    found = []
    for name, xid in stated_references(version.attributes):
        resource, _, version_id = xid.partition("/versions/")
        target = call.tx.entity(xid) if version_id else None
        number = number_of(target) if target is not None else int(version_id) if version_id.isdigit() else -1
        context = call.contexts.context(xid.split("/")[2])
        subject = Subject(context, subject_name(call.tx, resource) or resource.rpartition("/")[2])
        shown = subject.name if context == own else str(subject)
        found.append({"name": name, "subject": shown, "version": number})
    return found
