"""Definitions of the message catalog: list, GET of the newest version, POST of a new one."""

from __future__ import annotations

import msgspec

from postroom.documents.dialects.messagecatalog_ids import catalog_id_of
from postroom.documents.dialects.messagecatalog_sections import canonical_format
from postroom.http.messagecatalog.attribute_headers import RequestAttributes, attribute_headers, read_attributes
from postroom.http.messagecatalog.group_formats import group_format, message_format
from postroom.http.messagecatalog.groups import EVERYTHING
from postroom.http.messagecatalog.original_documents import read_request_document
from postroom.http.messagecatalog.paths import is_version_url, refuse_bare_colon
from postroom.http.messagecatalog.request import CatalogRequest, path_of
from postroom.http.messagecatalog.translate import MessageContext, Tree, merge_document, write_document
from postroom.http.messagecatalog.versions import (
    CatalogVersion,
    find_by_id,
    find_by_uri,
    index_id,
    message_context,
    requested_version,
    version_answer,
    version_attributes,
)
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import correlated
from postroom.registry import operations
from postroom.registry.changes.original_documents import Original, store_original
from postroom.registry.changes.provenance import (
    AUTHORITY,
    VERSION_URI,
    Provenance,
    accepts_provenance,
    attach_provenance,
    is_absolute,
    version_uri,
)
from postroom.registry.read.resource_history import NumberedState, read_states
from postroom.registry.read.tree import require_entity
from postroom.registry.write.unit_of_work import UnitOfWork


def list_definitions(context: CatalogRequest) -> Response:
    """The ids of the definitions of a group."""
    require_entity(context.tx, context.path.group_xid)
    return Response(json=list(map(catalog_id_of, context.tx.ids(context.path.xid, "", EVERYTHING))))


def get_definition(context: CatalogRequest) -> Response:
    """The document of the newest version; its times are those of the definition."""
    meta = require_entity(context.tx, context.path.xid)
    version = requested_version(context)
    made = version_answer(version, context.root)
    times = {"createdtimeutc": meta.createdat, "updatedtimeutc": version.state.version.modifiedat}
    return msgspec.structs.replace(made, headers={**made.headers, **attribute_headers(times)})


def post_version(context: CatalogRequest) -> Response:
    """Add a version to a definition, which is made when it is not there."""
    context.tx.permissions.require_write(context.path.xid)
    around = message_context(context.tx, context.path.xid, context.root)
    states = read_states(context.tx, context.path.xid)
    if not states:
        refuse_bare_colon(context)
    tx, group = context.tx, around.group
    form = message_format(tx, _newest(states), group) if states else group_format(tx, group)
    given = read_attributes(context)
    original, document = read_request_document(context, form)
    original = msgspec.structs.replace(original, id=given.id)
    given = _completed(context, given, document, form)
    known = _known(context, given, len(states) + 1)
    if known is not None:
        return _repeated(context, known, original)
    _check_id(context, given)
    _check_authority(context, states, given.authority)
    _check_identity(context, states, document, around, form)
    return _added(context, states, given, original, merge_document(_newest(states), document, around, form))


def _completed(context: CatalogRequest, given: RequestAttributes, document: Tree, form: str) -> RequestAttributes:
    """What a client says, with what its document repeats; the two may not contradict each other."""
    for name in (given.format, document.get("format")):
        if isinstance(name, str) and name and canonical_format(name) != form:
            context.refuse(f"the format is {name[:100]!r} and must be that of the group, {form}")
    described = document.get("description")
    description = given.description or (described if isinstance(described, str) else "")
    return msgspec.structs.replace(given, description=description)


def _known(context: CatalogRequest, given: RequestAttributes, number: int) -> CatalogVersion | None:
    """The version that has the id already; the paths of other versions are taken, too, or will be."""
    if not given.id:
        return None
    uri = version_uri(given.authority or context.base, given.id)
    own = version_uri(context.base, f"{path_of(context.path.xid)}/versions/{number}")
    if is_version_url(context.base, uri) and uri != own:
        context.refuse(f"the id {given.id} is the path of another version", status=409)
    return find_by_uri(context.tx, context.base, uri)


def _repeated(context: CatalogRequest, known: CatalogVersion, original: Original) -> Response:
    """The answer to a version that is there already: fine when it is the same, as it is when a copy is sent twice."""
    there = known.original
    is_same = there is not None and (there.content, there.contenttype) == (original.content, original.contenttype)
    if known.xid != context.path.xid or not is_same:
        context.refuse(f"the version {known.uri} is there already, as {known.path}", status=409)
    return _version_response(known, 200)


def _check_id(context: CatalogRequest, given: RequestAttributes) -> None:
    """The id of a version is "unique within the scope of the catalog", also under another authority."""
    taken = find_by_id(context.tx, context.base, given.id) if given.id else None
    if taken is not None:
        uri = version_uri(given.authority or context.base, given.id)
        detail = f"the id {given.id} is that of {taken.path} ({taken.uri}); give the absolute URI as the id, {uri}"
        context.refuse(detail, status=409)


def _newest(states: list[NumberedState]) -> Tree:
    return states[-1].version.attributes if states else {}


def _check_authority(context: CatalogRequest, states: list[NumberedState], given: str) -> None:
    """Definitions of different origins are different definitions: one cannot take the place of another."""
    if not states or not given:
        return
    authority = CatalogVersion(context.tx, context.base, context.path.xid, states[-1]).authority
    if given.rstrip("/") != authority.rstrip("/"):
        context.refuse(f"the authority of this definition is {authority}, not {given}", status=409)


def _check_identity(
    context: CatalogRequest, states: list[NumberedState], document: Tree, around: MessageContext, form: str
) -> None:
    """CAT-010: all versions of an event have one type."""
    if form != "CloudEvents" or not states:
        return
    before = write_document(_newest(states), around, form)["attributes"].get("type")
    now = document["attributes"]["type"]
    if before and before != now:
        detail = f"type is {now!r}, and {before!r} in the versions before: another type is another definition"
        context.refuse(detail, status=409, pointer="/attributes/type")


def _added(
    context: CatalogRequest, states: list[NumberedState], given: RequestAttributes, original: Original, message: Tree
) -> Response:
    tx, path = context.tx, context.path
    provenance = _provenance(context, states, given)
    is_shown = accepts_provenance(path.resource) and (not provenance.uri or is_absolute(provenance.uri))
    reported = {AUTHORITY: provenance.authority, VERSION_URI: provenance.uri} if is_shown else {}
    message |= {name: value for name, value in {**reported, "description": given.description}.items() if value}
    work = UnitOfWork(tx, actor=context.request.actor)
    meta = tx.entity(path.xid)
    default = "request" if meta and meta.attributes.get("defaultversionsticky") else ""
    made = operations.put_version(work, path, None, message, False, default)
    entity = require_entity(tx, f"{path.xid}/versions/{made.versions[0]}")
    if not is_shown:
        attach_provenance(tx, entity, provenance)
    store_original(tx, entity, original)
    index_id(tx, entity, given.id)
    work.finish()
    version = CatalogVersion(tx, context.base, path.xid, NumberedState(len(states) + 1, entity))
    return correlated(_version_response(version, 201), work, context.settings)


def _provenance(context: CatalogRequest, states: list[NumberedState], given: RequestAttributes) -> Provenance:
    """Under a foreign authority each version has its URI written down; ours has one only where it was given an id."""
    tx, base, xid = context.tx, context.base, context.path.xid
    before = CatalogVersion(tx, base, xid, states[-1]).authority if states else base
    authority = given.authority or (before if before != base else "")
    if not authority:
        return Provenance(uri=given.id)
    name = given.id or f"{path_of(context.path.xid)}/versions/{len(states) + 1}"
    return Provenance(authority, version_uri(authority, name))


def _version_response(version: CatalogVersion, status: int) -> Response:
    reported = version_attributes(version)
    headers = {**attribute_headers(reported), **({"Location": version.url} if status == 201 else {})}
    return Response(status=status, headers=headers, json={name: value for name, value in reported.items() if value})
