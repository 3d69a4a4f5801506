"""A schema that a client sends: read, checked, and compared with versions of its subject."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from postroom.catalog.subjects.subject_versions import FORMATS, format_of
from postroom.errors import SchemaRefused
from postroom.formats.protobuf.descriptor_text import text_of
from postroom.formats.schema_identity import normal_schema
from postroom.http.confluent.call import Call, Tree
from postroom.http.confluent.levels import effective_config
from postroom.http.confluent.metadata import completed_metadata, completed_rules
from postroom.http.confluent.refusals import refuse
from postroom.http.confluent.subject_view import SubjectView, schema_type, view
from postroom.model.schema_content import METADATA, RULES, stated_references
from postroom.registry.entities import Document, Entity
from postroom.registry.numbering.schema_ids import content_digest
from postroom.registry.numbering.version_numbers import SchemaVersion
from postroom.registry.read.referenced_documents import surroundings
from postroom.registry.rules import Judgement, ReferencedDocument

CONTENT_TYPES = {"AVRO": "application/json", "JSON": "application/json", "PROTOBUF": "text/plain"}


class Candidate(msgspec.Struct, frozen=True):
    """A schema that may become a version."""

    kind: str
    form: str
    text: str
    attributes: Tree
    digest: str
    """What it says, in one word."""

    @property
    def references(self) -> tuple[tuple[str, str], ...]:
        """The names that it uses, with the xids of what they mean."""
        return tuple((one["name"], one["xid"]) for one in self.attributes.get("references", ()))

    def as_written(self) -> Tree:
        """The attributes of the Version it becomes."""
        encoded = base64.b64encode(self.text.encode()).decode()
        return {**self.attributes, "contenttype": CONTENT_TYPES[self.kind], "schemabase64": encoded}


def read_candidate(call: Call, found: SubjectView, body: Tree, *, inherits: bool = False) -> Candidate:
    """The schema of a body; refused when it is not one. What it says of metadata and rules is completed."""
    text, kind = body.get("schema"), body.get("schemaType") or "AVRO"
    if not isinstance(text, str) or not text.strip():
        refuse(42201, reason="Empty schema")
    if kind not in FORMATS:
        refuse(42201, reason=f"the schema type {kind} is not one of {', '.join(FORMATS)}")
    if kind == "PROTOBUF":
        text = _proto_text(text)
    config = effective_config(call, found.subject)
    if call.flag("normalize") or config.get("normalize") is True:
        text = _normal(kind, text)
    form = _format(found, kind, text)
    attributes: Tree = {"format": form}
    if references := _references(call, found, body.get("references")):
        attributes["references"] = references
    before = found.live[-1].entity.attributes if found.live else {}
    for name, attribute, complete in (
        ("metadata", METADATA, completed_metadata),
        ("ruleSet", RULES, completed_rules),
    ):
        value = body.get(name)
        if value is not None and not isinstance(value, dict):
            refuse(42201, reason=f"{name} must be an object")
        former = msgspec.json.decode(before[attribute]) if inherits and attribute in before else None
        whole = complete(config, value, former)
        if whole:
            attributes[attribute] = msgspec.json.encode(whole, order="sorted").decode()
    entity = Entity(
        xid=f"{found.resource}/versions/0",
        epoch=1,
        createdat="",
        modifiedat="",
        attributes=attributes,
        document=Document(content=text.encode()),
    )
    return Candidate(kind, form, text, attributes, content_digest(call.tx.rules, entity))


def _proto_text(text: str) -> str:
    """The text of a Protobuf schema, which some clients send as a serialised descriptor in base64."""
    try:
        return text_of(base64.b64decode(text, validate=True))
    except (ValueError, binascii.Error):
        return text
    except SchemaRefused as error:
        refuse(42201, reason=str(error))


def _normal(kind: str, text: str) -> str:
    try:
        return text if kind == "PROTOBUF" else normal_schema(kind, text)
    except SchemaRefused as error:
        refuse(42201, reason=str(error))


def _format(found: SubjectView, kind: str, text: str) -> str:
    """The name of the format, as the versions that there are spell it."""
    same = (one.entity.attributes["format"] for one in reversed(found.all) if schema_type(one.entity) == kind)
    return str(next(same, format_of(kind, text)))


def _references(call: Call, found: SubjectView, given: Any) -> list[Tree]:
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        refuse(42201, reason="references must be a list of objects")
    return [_reference(call, found, one) for one in given]


def _reference(call: Call, found: SubjectView, given: Tree) -> Tree:
    name, subject, number = given.get("name"), given.get("subject"), given.get("version", -1)
    if not isinstance(name, str) or not isinstance(subject, str) or not isinstance(number, int):
        refuse(42201, reason="a reference has a name, a subject and a version")
    inside = msgspec.structs.replace(call, context=found.subject.context)
    target = view(call, inside.named(subject))
    versions = target.live[-1:] if number == -1 else [one for one in target.live if one.number == number]
    if not versions:
        refuse(42201, reason=f'No schema reference found for subject "{subject}" and version {number}')
    return {"name": name, "xid": versions[0].entity.xid}


def check(call: Call, found: SubjectView, candidate: Candidate) -> None:
    """Refuse what is not a schema of its format, or refers to what is not there."""
    judgement = _judge_format(call, found, candidate)
    if judgement.answer != "yes":
        refuse(42201, reason=judgement.reason)


def _judge_format(call: Call, found: SubjectView, candidate: Candidate) -> Judgement:
    around = surroundings(call.tx, f"{found.resource}/versions/0", candidate.references)
    return call.tx.rules.documents.check(candidate.form, candidate.text.encode(), around)


def violations(
    call: Call, found: SubjectView, candidate: Candidate, versions: list[SchemaVersion], level: str
) -> list[str]:
    """Why a schema may not follow some versions, oldest first; empty when it may."""
    if level == "NONE" or not versions:
        return []
    nearest = list(reversed(_of_group(call, found, candidate, versions)))
    other = next((one for one in nearest if schema_type(one.entity) != candidate.kind), None)
    if other is not None:
        return [f"Incompatible because of different schema type: version {other.number} is {schema_type(other.entity)}"]
    older = [_document(one.entity) for one in nearest]
    around = surroundings(call.tx, f"{found.resource}/versions/0", candidate.references)
    judgement = call.tx.rules.documents.compare(
        candidate.form, older, candidate.text.encode(), level.lower(), around, is_strict=True
    )
    if judgement.answer != "no":
        return []
    return [judgement.reason, f"{{compatibility: '{level}'}}"]


def _of_group(
    call: Call, found: SubjectView, candidate: Candidate, versions: list[SchemaVersion]
) -> list[SchemaVersion]:
    """The versions that a schema is compared with: where a property of the metadata groups them, those of its group."""
    group = effective_config(call, found.subject).get("compatibilityGroup")
    if not group:
        return versions
    own = _property(candidate.attributes, group)
    return [one for one in versions if _property(one.entity.attributes, group) == own]


def _property(attributes: Tree, name: str) -> Any:
    metadata = msgspec.json.decode(attributes.get(METADATA, "{}"))
    return (metadata.get("properties") or {}).get(name)


def _document(version: Entity) -> ReferencedDocument:
    content = version.document.content if version.document is not None else b""
    return ReferencedDocument(version.xid, content, stated_references(version.attributes))
