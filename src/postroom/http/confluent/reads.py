"""What can be read: subjects, versions, ids, GUIDs, types, contexts."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from postroom.formats.schema_identity import NUMBERED
from postroom.http.confluent.call import Call, Tree
from postroom.http.confluent.levels import asked_subject
from postroom.http.confluent.refusals import plain_problem, problem, refuse
from postroom.http.confluent.subject_view import (
    contexts_with_groups,
    guid,
    read_use,
    schema_text,
    schema_type,
    shown_content,
    shown_version,
    subjects_of,
    view,
)
from postroom.http.server.response import Response
from postroom.registry.numbering.schema_ids import SchemaIds, groups_with_guid, referring_versions
from postroom.registry.numbering.subjects import DEFAULT, Subject, parse_subject, subject_name
from postroom.registry.numbering.version_numbers import HIGHEST, SchemaVersion
from postroom.store.change_follower import part_of
from postroom.version import VERSION

ALL = ":*:"


def get_root(call: Call) -> Tree:
    """Nothing: clients look whether somebody is there."""
    return {}


def get_types(call: Call) -> list[str]:
    """The kinds of schemas that have ids."""
    return sorted(NUMBERED.values(), key=["JSON", "PROTOBUF", "AVRO"].index)


def get_contexts(call: Call) -> list[str]:
    """The contexts there are."""
    return call.page(contexts_with_groups(call))


def get_cluster(call: Call) -> Tree:
    """What this registry is called."""
    root = call.tx.entity("/")
    name = root.attributes["registryid"] if root is not None else ""
    return {"id": "", "scope": {"path": [], "clusters": {"schema-registry-cluster": name}}}


def get_server_version(call: Call) -> Tree:
    """The version of this software."""
    return {"version": VERSION, "commitId": ""}


def list_subjects(call: Call) -> list[str]:
    """The names of subjects, those of all contexts unless a prefix says otherwise."""
    prefix = call.query("subjectPrefix")
    found = _subjects(call, ALL if prefix is None else prefix)
    return call.page([str(one) for one in found])


def _subjects(call: Call, prefix: str) -> list[Subject]:
    deleted, only = call.flag("deleted"), call.flag("deletedOnly")
    if prefix == ALL and call.context == DEFAULT:
        contexts, start = contexts_with_groups(call), ""
    else:
        wanted = call.contexts.normal(parse_subject("" if prefix == ALL else prefix, call.context))
        contexts, start = [wanted.context], wanted.name
    return [
        subject
        for context in contexts
        for subject in subjects_of(call, context, deleted=deleted, only_deleted=only)
        if subject.name.startswith(start)
    ]


def list_versions(call: Call, segment: str) -> list[int]:
    """The numbers of the versions of a subject."""
    found = view(call, asked_subject(call, segment))
    versions = found.deleted if call.flag("deletedOnly") else found.versions(deleted=call.flag("deleted"))
    if not versions:
        refuse(40401, subject=found.subject)
    return call.page([one.number for one in versions])


def get_version(call: Call, segment: str, number: str) -> Tree:
    """One version."""
    found = view(call, asked_subject(call, segment))
    return shown_version(call, found.subject, found.find(unquote(number), deleted=call.flag("deleted")))


def get_version_schema(call: Call, segment: str, number: str) -> Response:
    """The document of one version and nothing else."""
    found = view(call, asked_subject(call, segment))
    version = found.find(unquote(number), deleted=call.flag("deleted"))
    return _document(version, call)


def get_latest_with_metadata(call: Call, segment: str) -> Tree:
    """The newest version whose metadata has certain properties."""
    found = view(call, asked_subject(call, segment))
    keys = [value for key, value in call.request.query if key == "key"]
    values = [value for key, value in call.request.query if key == "value"]
    for version in reversed(found.versions(deleted=call.flag("deleted"))):
        shown = shown_version(call, found.subject, version)
        properties = (shown.get("metadata") or {}).get("properties") or {}
        if all(properties.get(key) == value for key, value in zip(keys, values, strict=False)):
            return shown
    if not found.live:
        refuse(40401, subject=found.subject)
    raise problem(40403, id="")


def list_referrers(call: Call, segment: str, number: str) -> list[int]:
    """The ids of the schemas that refer to a version."""
    found = view(call, asked_subject(call, segment))
    version = found.find(unquote(number))
    return sorted({one for referrer in referrers(call, version) for one in referrer.ids[:1]})


def referrers(call: Call, version: SchemaVersion) -> list[SchemaVersion]:
    """The versions that refer to one and may be read."""
    xids = referring_versions(call.tx, version.entity.xid)
    parts = [xid.split("/") for xid in xids]
    found = (read_use(call.tx, group, resource, one, 0) for _, _, group, _, resource, _, one in parts)
    return [one for one in found if one is not None]


def list_schemas(call: Call) -> list[Tree]:
    """All versions of all subjects."""
    found = []
    for subject in _subjects(call, call.query("subjectPrefix") or ALL):
        one = view(call, subject)
        versions = one.versions(deleted=call.flag("deleted"))
        chosen = versions[-1:] if call.flag("latestOnly") else versions
        found += [shown_version(call, subject, version) for version in chosen]
    return call.page(found)


def get_by_id(call: Call, text: str) -> Response:
    """The schema with an id."""
    version = _first_use(call, text)
    tree = {**shown_content(call, version.entity), "guid": guid(call.tx, version.entity)}
    if call.flag("fetchMaxId"):
        tree["maxId"] = max(SchemaIds(call.tx, version.entity.xid.split("/")[2]).ids())
    resource = version.entity.xid.rpartition("/versions/")[0]
    return Response(json=tree, part=part_of(resource, is_whole=False))


def get_document_by_id(call: Call, text: str) -> Response:
    """The document with an id and nothing else."""
    return _document(_first_use(call, text), call)


def list_subjects_by_id(call: Call, text: str) -> list[str]:
    """The subjects that have an id."""
    found = {_subject(call, one) for one in _all_uses(call, text)}
    return call.page(sorted(found))


def list_versions_by_id(call: Call, text: str) -> list[Tree]:
    """The versions that have an id."""
    pairs = sorted((_subject(call, one), one.number) for one in _all_uses(call, text))
    return call.page([{"subject": subject, "version": number} for subject, number in pairs])


def get_by_guid(call: Call, text: str) -> Tree:
    """The schema with a GUID, of whatever context."""
    for group in sorted(groups_with_guid(call.tx, unquote(text))):
        known = SchemaIds(call.tx, group)
        schema_id = known.id_of_guid(unquote(text))
        for version in _versions(call, group, schema_id) if schema_id is not None else ():
            return {**shown_content(call, version.entity), "guid": guid(call.tx, version.entity)}
    raise problem(40403, id=unquote(text))


def list_ids_by_guid(call: Call, text: str) -> list[Tree]:
    """The contexts in which a GUID is known, each with the id."""
    found = []
    for group in sorted(groups_with_guid(call.tx, unquote(text))):
        schema_id = SchemaIds(call.tx, group).id_of_guid(unquote(text))
        if schema_id is not None and any(True for _ in _versions(call, group, schema_id)):
            found.append({"context": call.contexts.context(group), "id": schema_id})
    if not found:
        refuse(40403, id=unquote(text))
    return found


def _uses(call: Call, text: str) -> Iterator[SchemaVersion]:
    """The versions with an id: of the context, or of that of the subject that clients name to say which one."""
    if not (text.isascii() and text.isdigit()):
        raise plain_problem(404)
    if int(text) <= HIGHEST:
        group = call.contexts.group(call.named(call.query("subject") or "").context)
        yield from _versions(call, group, int(text))


def _all_uses(call: Call, text: str) -> list[SchemaVersion]:
    """All of them that are not deleted, or all; refused when there are none at all."""
    found = list(_uses(call, text))
    if not found:
        refuse(40403, id=text)
    return [one for one in found if call.flag("deleted") or not one.is_deleted]


def _first_use(call: Call, text: str) -> SchemaVersion:
    """One of them, if possible one that is not deleted; there may be many, and all say the same."""
    deleted: SchemaVersion | None = None
    for version in _uses(call, text):
        if not version.is_deleted:
            return version
        deleted = deleted or version
    if deleted is None:
        raise problem(40403, id=text)
    return deleted


def _versions(call: Call, group: str, schema_id: int) -> Iterator[SchemaVersion]:
    uses = SchemaIds(call.tx, group).uses(schema_id)
    read = (read_use(call.tx, group, one.resource, one.versionid, one.deleted) for one in uses)
    return (one for one in read if one is not None)


def _subject(call: Call, version: SchemaVersion) -> str:
    resource = version.entity.xid.rpartition("/versions/")[0]
    return str(Subject(call.contexts.context(resource.split("/")[2]), subject_name(call.tx, resource)))


def _document(version: SchemaVersion, call: Call) -> Response:
    kind = "text/plain" if schema_type(version.entity) == "PROTOBUF" else "application/json"
    return Response(content=schema_text(call, version.entity).encode(), headers={"Content-Type": kind})
