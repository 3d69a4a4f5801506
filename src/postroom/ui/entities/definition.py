"""The page of a message definition: what it is in words, what it demands and who says so, its payload, its uses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from postroom.documents.lint.findings import Finding
from postroom.http.server.response import Response
from postroom.messages.definitions.catalog_tree import Tree
from postroom.messages.definitions.definition import Constraint, Definition
from postroom.messages.definitions.schema_documents import SchemaDocuments
from postroom.model.json_pointers import leads, steps_of
from postroom.registry.paths import EntityPath
from postroom.ui import texts
from postroom.ui.entities.catalog_index import index_of, schema_xid
from postroom.ui.entities.plain_entities import attributes, json_url, parents, rendered
from postroom.ui.entities.schema import SchemaView, schema_view
from postroom.ui.page import PageRequest

MOST_CONSTRAINTS = 500
MOST_DERIVED = 100
SHOWN_OTHERWISE = frozenset(
    {
        *("name", "description", "documentation", "icon", "labels", "deprecated", "envelope", "protocol"),
        *("envelopemetadata", "protocoloptions", "dataschema", "basemessage", "datacontenttype", "epoch"),
        *("dataschemaformat", "dataschemauri", "dataschemaxid", "messageid", "versionid", "createdat", "modifiedat"),
        *("isdefault", "ancestorid"),
    }
)


class ConstraintRow(msgspec.Struct, frozen=True, kw_only=True):
    """A constraint as the page shows it."""

    name: str
    constraint: Constraint
    value: str
    source: str
    """The xid of the message that says so, where it is another one."""
    note: str = ""
    findings: tuple[Finding, ...] = ()


def answer_definition(page: PageRequest, path: EntityPath) -> Response:
    """The page of a message."""
    message = rendered(page, path)
    index = index_of(page.catalog)
    definition = index.definitions.get(path.xid)
    findings = page.tx.rules.lint(page.tx, [path.xid])
    sections = _sections(definition, path.xid, message, findings) if definition is not None else []
    shown = {id(finding) for section in sections for row in section["rows"] for finding in row.findings}
    derived = index.derived.get(path.xid, [])
    return page.render(
        "definition.html",
        xid=path.xid,
        parents=parents(path),
        message=message,
        definition=definition,
        refused=index.refused.get(path.xid),
        words=in_words(definition) if definition is not None else "",
        sections=sections,
        payload=_payload(page, definition),
        schema_xid=schema_xid(definition) if definition is not None else "",
        carriers=index.carriers(path.xid),
        sees_lake=bool(page.settings.lake) and page.request.permissions.sees_lake,
        derived=derived[:MOST_DERIVED],
        derived_count=len(derived),
        findings=[finding for finding in findings if id(finding) not in shown],
        attributes=[one for one in attributes(message) if one[0] not in SHOWN_OTHERWISE],
        json_url=json_url(page, path),
    )


def in_words(definition: Definition) -> str:
    """What a definition is, in a sentence."""
    kind = texts.words_event if definition.envelope else texts.words_message
    type_name = next((str(c.value) for c in definition.envelope_constraints if c.path == ("type",) and c.value), "")
    sentence = kind.format(type=texts.words_type.format(type=type_name) if type_name else "")
    sentence += texts.words_protocol.format(protocol=definition.protocol) if definition.protocol else texts.words_any
    source = definition.schema
    if source is None:
        return sentence + (texts.words_content.format(type=definition.contenttype) if definition.contenttype else ".")
    media = texts.words_media.format(type=definition.contenttype) if definition.contenttype else ""
    return sentence + texts.words_schema.format(format=source.format, media=media)


def _sections(definition: Definition, xid: str, message: Tree, findings: list[Finding]) -> list[dict[str, Any]]:
    parts = (
        (texts.envelope_attributes, definition.envelope_constraints),
        (texts.protocol_properties, definition.protocol_constraints),
    )
    return [
        {"title": title, "rows": rows, "more": max(0, len(constraints) - MOST_CONSTRAINTS)}
        for title, constraints in parts
        if (rows := [_row(one, xid, message, findings) for one in _in_order(constraints)[:MOST_CONSTRAINTS]])
    ]


_FIRST = ("specversion", "type", "source", "id", "subject", "time", "datacontenttype", "dataschema")


def _in_order(constraints: Iterable[Constraint]) -> list[Constraint]:
    """Constraints as people look for them: the type of an event first, what CloudEvents says of itself next."""
    order = {name: index for index, name in enumerate(_FIRST)}
    return sorted(constraints, key=lambda one: (order.get(one.path[0], len(order)), one.implied != ""))


def _row(constraint: Constraint, xid: str, message: Tree, findings: list[Finding]) -> ConstraintRow:
    at = xid + constraint.at
    about = tuple(one for one in findings if one.pointer == at or one.pointer.startswith(at + "/"))
    note = ""
    is_written = leads(message, steps_of(constraint.at))
    if constraint.implied:
        note = texts.implied_by.format(name=constraint.implied)
    elif not constraint.origin and not is_written:
        note = texts.said_by_cloudevents
    return ConstraintRow(
        name=" › ".join(constraint.path),
        constraint=constraint,
        value="" if constraint.value is None else _shown(constraint.value),
        source=constraint.origin,
        note=note,
        findings=about,
    )


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()


def _payload(page: PageRequest, definition: Definition | None) -> SchemaView | None:
    """The payload schema, as far as it can be had."""
    source = definition.schema if definition is not None else None
    if source is None:
        return None
    if source.missing or (source.place and source.place not in page.catalog.compiled.schemas):
        return SchemaView(format=source.format, reference=source.reference, missing=source.missing)
    document, library = SchemaDocuments(page.catalog.compiled.schemas).of(source)
    return schema_view(source.format, document, source.fragment, library, source.reference)
