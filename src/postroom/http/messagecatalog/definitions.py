"""Definitions of the message catalog: list, GET of the newest version, POST of a new one."""

from __future__ import annotations

import msgspec

from postroom.http.messagecatalog.attribute_headers import RequestAttributes, attribute_headers, read_attributes
from postroom.http.messagecatalog.group_formats import canonical_format, group_format, message_format
from postroom.http.messagecatalog.groups import EVERYTHING
from postroom.http.messagecatalog.original_documents import Original, read_request_document, store_original
from postroom.http.messagecatalog.paths import is_version_url
from postroom.http.messagecatalog.request import CatalogRequest, path_of
from postroom.http.messagecatalog.translate import MessageContext, Tree, merge_document, write_document
from postroom.http.messagecatalog.versions import (
    CatalogVersion,
    find_by_uri,
    message_context,
    requested_version,
    version_answer,
    version_attributes,
)
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import correlated
from postroom.registry import operations
from postroom.registry.changes.provenance import (
    AUTHORITY,
    VERSION_URI,
    Provenance,
    accepts_provenance,
    attach_provenance,
    is_absolute,
    version_uri,
)
from postroom.registry.read.numbered_states import NumberedState, read_states
from postroom.registry.read.tree import require_entity
from postroom.registry.write.unit_of_work import UnitOfWork


def list_definitions(visit: CatalogRequest) -> Response:
    """The ids of the definitions of a group."""
    require_entity(visit.tx, visit.path.group_xid)
    return Response(json=visit.tx.ids(visit.path.xid, "", EVERYTHING))


def get_definition(visit: CatalogRequest) -> Response:
    """The document of the newest version; its times are those of the definition."""
    meta = require_entity(visit.tx, visit.path.xid)
    version = requested_version(visit)
    made = version_answer(version, visit.root)
    times = {"createdtimeutc": meta.createdat, "updatedtimeutc": version.state.version.modifiedat}
    return msgspec.structs.replace(made, headers={**made.headers, **attribute_headers(times)})


def post_version(visit: CatalogRequest) -> Response:
    """Add a version to a definition, which is made when it is not there."""
    around = message_context(visit.tx, visit.path.xid, visit.root)
    states = read_states(visit.tx, visit.path.xid)
    tx, group = visit.tx, around.group
    form = message_format(tx, _newest(states), group) if states else group_format(tx, group)
    given = read_attributes(visit)
    original, document = read_request_document(visit, form)
    original = msgspec.structs.replace(original, id=given.id)
    given = _completed(visit, given, document, form)
    known = _known(visit, given, len(states) + 1)
    if known is not None:
        return _repeated(visit, known, original)
    _check_authority(visit, states, given.authority)
    _check_identity(visit, states, document, around, form)
    return _added(visit, states, given, original, merge_document(_newest(states), document, around, form))


def _completed(visit: CatalogRequest, given: RequestAttributes, document: Tree, form: str) -> RequestAttributes:
    """What a client says, with what its document repeats; the two may not contradict each other."""
    for said in (given.format, document.get("format")):
        if isinstance(said, str) and said and canonical_format(said) != form:
            visit.refuse(f"the format is {said[:100]!r} and must be that of the group, {form}")
    described = document.get("description")
    description = given.description or (described if isinstance(described, str) else "")
    return msgspec.structs.replace(given, description=description)


def _known(visit: CatalogRequest, given: RequestAttributes, number: int) -> CatalogVersion | None:
    """The version that has the id already; the paths of other versions are taken, too, or will be."""
    if not given.id:
        return None
    uri = version_uri(given.authority or visit.base, given.id)
    own = version_uri(visit.base, f"{path_of(visit.path.xid)}/versions/{number}")
    if is_version_url(visit.base, uri) and uri != own:
        visit.refuse(f"the id {given.id} is the path of another version", status=409)
    return find_by_uri(visit.tx, visit.base, uri)


def _repeated(visit: CatalogRequest, known: CatalogVersion, original: Original) -> Response:
    """The answer to a version that is there already: fine when it is the same, as it is when a copy is sent twice."""
    there = known.original
    is_same = there is not None and (there.content, there.contenttype) == (original.content, original.contenttype)
    if known.xid != visit.path.xid or not is_same:
        visit.refuse(f"the version {known.uri} is there already, as {known.path}", status=409)
    return _version_response(known, 200)


def _newest(states: list[NumberedState]) -> Tree:
    return states[-1].version.attributes if states else {}


def _check_authority(visit: CatalogRequest, states: list[NumberedState], given: str) -> None:
    """Definitions of different origins are different definitions: one cannot take the place of another."""
    if not states or not given:
        return
    authority = CatalogVersion(visit.tx, visit.base, visit.path.xid, states[-1]).authority
    if given.rstrip("/") != authority.rstrip("/"):
        visit.refuse(f"the authority of this definition is {authority}, not {given}", status=409)


def _check_identity(
    visit: CatalogRequest, states: list[NumberedState], document: Tree, around: MessageContext, form: str
) -> None:
    """CAT-010: all versions of an event have one type."""
    if form != "CloudEvents" or not states:
        return
    before = write_document(_newest(states), around, form)["attributes"].get("type")
    now = document["attributes"]["type"]
    if before and before != now:
        detail = f"type is {now!r}, and {before!r} in the versions before: another type is another definition"
        visit.refuse(detail, status=409, pointer="/attributes/type")


def _added(
    visit: CatalogRequest, states: list[NumberedState], given: RequestAttributes, original: Original, message: Tree
) -> Response:
    tx, path = visit.tx, visit.path
    provenance = _provenance(visit, states, given)
    is_shown = accepts_provenance(path.resource) and (not provenance.uri or is_absolute(provenance.uri))
    reported = {AUTHORITY: provenance.authority, VERSION_URI: provenance.uri} if is_shown else {}
    message |= {name: value for name, value in {**reported, "description": given.description}.items() if value}
    work = UnitOfWork(tx, actor=visit.request.actor)
    meta = tx.entity(path.xid)
    default = "request" if meta and meta.attributes.get("defaultversionsticky") else ""
    made = operations.put_version(work, path, None, message, False, default)
    entity = require_entity(tx, f"{path.xid}/versions/{made.versions[0]}")
    if not is_shown:
        attach_provenance(tx, entity, provenance)
    store_original(tx, entity, original)
    work.finish()
    version = CatalogVersion(tx, visit.base, path.xid, NumberedState(len(states) + 1, entity))
    return correlated(_version_response(version, 201), work, visit.settings)


def _provenance(visit: CatalogRequest, states: list[NumberedState], given: RequestAttributes) -> Provenance:
    """Under a foreign authority each version has its URI written down; ours has one only where it was given an id."""
    before = CatalogVersion(visit.tx, visit.base, visit.path.xid, states[-1]).authority if states else visit.base
    authority = given.authority or (before if before != visit.base else "")
    if not authority:
        return Provenance(uri=given.id)
    name = given.id or f"{path_of(visit.path.xid)}/versions/{len(states) + 1}"
    return Provenance(authority, version_uri(authority, name))


def _version_response(version: CatalogVersion, status: int) -> Response:
    reported = version_attributes(version)
    headers = {**attribute_headers(reported), **({"Location": version.url} if status == 201 else {})}
    return Response(status=status, headers=headers, json={name: value for name, value in reported.items() if value})
