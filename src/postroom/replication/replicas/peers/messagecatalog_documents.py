"""Versions of a message catalog as states of a message, and states as the documents that a catalog is sent."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import msgspec

from postroom.documents.dialects.messagecatalog import DIALECT
from postroom.documents.dialects.messagecatalog_ids import catalog_id_of
from postroom.documents.dialects.messagecatalog_sections import FORMATS, NATIVE, group_selectors, read_document
from postroom.outbound.policy import OutboundResponse
from postroom.registry.changes.original_documents import Original
from postroom.registry.changes.provenance import version_uri
from postroom.replication.replicas.import_unit import uri_of
from postroom.replication.replicas.replica_unit import FormerState, Tree, Unit

JSON = "application/json"
VERSION = "1"
"""The one Version that a message has in a registry."""
HEADER = "message-definition-"
_NOT_CARRIED = ("authority", "versionuri", "ancestorid", "createdat", "modifiedat")


def state_of(reply: OutboundResponse, authority: str, place: str) -> FormerState:
    """A version as the catalog answers it; `place` is the URL of one that has neither a URI nor an id."""
    time = reply.headers.get(HEADER + "createdtimeutc") or reply.headers.get(HEADER + "updatedtimeutc")
    times = {"createdat": time, "modifiedat": time} if time else {}
    uri = reply.headers.get(HEADER + "uri") or version_uri(authority, reply.headers.get(HEADER + "id") or place)
    document = Original(content=reply.body, contenttype=reply.headers.get("content-type", JSON))
    return FormerState(versionid=VERSION, body={**_message(reply), **times}, uri=uri, document=document)


def _message(reply: OutboundResponse) -> Tree:
    """What the document says; one that is no JSON object says nothing that we understand, and is kept as it is."""
    document = _json(reply.body)
    form = str(document.get("format") or reply.headers.get(HEADER + "format") or NATIVE)
    described = unquote(reply.headers.get(HEADER + "description", "")) or document.get("description")
    own = {} if form in FORMATS else group_selectors(form)
    message = {**own, **read_document(document, form)}
    return {**message, "description": described} if isinstance(described, str) and described else message


def _json(content: bytes) -> Tree:
    try:
        document: Any = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def states_of(unit: Unit) -> list[FormerState]:
    """All states of a message, the present one last."""
    chosen = unit.body["meta"].get("defaultversionid")
    present = chosen if chosen in unit.versions else next(iter(unit.versions), None)
    if present is None:
        return []
    document = unit.documents.get(present)
    newest = FormerState(versionid=present, body=unit.versions[present], uri=uri_of(unit, present), document=document)
    return [*(unit.history or ()), newest]


def document_of(unit: Unit, state: FormerState, group: Tree) -> Original | None:
    """The document of a state: as it came, else one that says the same; None when there is none that could."""
    if state.document is not None:
        return state.document
    if "basemessage" in state.body:
        return None
    group_id, name = unit.xid.split("/")[2::2]
    plain = {one: value for one, value in state.body.items() if one not in _NOT_CARRIED}
    tree = {"messagegroups": {group_id: {**group, "messages": {name: {**plain, "versionid": VERSION}}}}}
    definitions = DIALECT.from_rc4(tree)["messagecatalog"][catalog_id_of(group_id)]["messagedefinitions"]
    if catalog_id_of(name) not in definitions:
        return None
    sections = {
        one: value for one, value in definitions[catalog_id_of(name)]["versions"][VERSION].items() if one != "version"
    }
    described = {"description": plain["description"]} if plain.get("description") else {}
    return Original(content=msgspec.json.encode({**described, **sections}), contenttype=JSON)


def continues(present: Unit, states: list[tuple[FormerState, Original]], is_whole: bool) -> bool:
    """Whether a definition becomes what it has to be by adding versions only, and none that it has is another.

    Of a source that does not know former states only the newest is compared.
    """
    theirs = [(state.uri, state.document) for state in states_of(present)]
    ours = [(state.uri, state.document) for state, _ in states]
    if not is_whole:
        return all(uri != ours[-1][0] for uri, _ in theirs)
    return len(theirs) <= len(ours) and all(
        there[0] == here[0] and here[1] in (None, there[1]) for there, here in zip(theirs, ours, strict=False)
    )
