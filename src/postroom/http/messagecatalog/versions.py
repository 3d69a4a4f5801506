"""Versions of a definition: the numbered states of a message, each with id, URI and document."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.http.messagecatalog.attribute_headers import attribute_headers
from postroom.http.messagecatalog.group_formats import message_format
from postroom.http.messagecatalog.original_documents import JSON, render_document
from postroom.http.messagecatalog.request import CATALOG, CatalogRequest, path_of
from postroom.http.messagecatalog.translate import MessageContext
from postroom.http.server.response import Response
from postroom.http.xregistry.document_view import HARMLESS
from postroom.registry.changes.original_documents import Original, original_of
from postroom.registry.changes.provenance import find_version, normal_uri, provenance_of, version_uri
from postroom.registry.entities import Entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.resource_history import NumberedState, load_state, read_states
from postroom.registry.read.tree import require_entity
from postroom.registry.transaction_interface import Transaction

_BY_ID = "catalogversionid"
_READ_STATE = msgspec.msgpack.Decoder(tuple[str, int])


class CatalogVersion(msgspec.Struct, frozen=True):
    """A state of a message, as the catalog at a URL shows it."""

    tx: Transaction
    base: str
    xid: str
    state: NumberedState

    @property
    def path(self) -> str:
        """Its path in the catalog, which is also the id of a version that was given none."""
        return f"{path_of(self.xid)}/versions/{self.state.number}"

    @property
    def url(self) -> str:
        """Where it is read."""
        return self.base + self.path.removeprefix(CATALOG)

    @property
    def authority(self) -> str:
        """Who controls the definition; the catalog itself when nobody else does."""
        return provenance_of(self.tx, self.state.version).authority or self.base

    @property
    def original(self) -> Original | None:
        """The document as it came."""
        return original_of(self.tx, self.state.version)

    @property
    def id(self) -> str:
        """The id it was given, else its path."""
        original = self.original
        given = original.id if original else provenance_of(self.tx, self.state.version).uri
        return given or self.path

    @property
    def uri(self) -> str:
        """What it is called in every catalog that has a copy."""
        provenance = provenance_of(self.tx, self.state.version)
        if not (provenance.authority or provenance.uri):
            return self.url
        return version_uri(self.authority, provenance.uri or self.path)


def requested_version(context: CatalogRequest) -> CatalogVersion:
    """The version that a path names; without a number the newest."""
    found = read_states(context.tx, context.path.xid)
    wanted = context.version or str(len(found))
    if not (wanted.isascii() and wanted.isdecimal()) or len(wanted) > 18 or not 0 < int(wanted) <= len(found):
        words = f"There are versions 1 to {len(found)}." if found else ""
        raise RegistryProblem("not_found", f"{context.path.xid}/versions/{wanted}", detail=words)
    return CatalogVersion(context.tx, context.base, context.path.xid, load_state(context.tx, found[int(wanted) - 1]))


def find_by_uri(tx: Transaction, base: str, uri: str) -> CatalogVersion | None:
    """The version with a URI; URIs of our own are found by what follows the URL of the catalog, too."""
    uri = normal_uri(uri)
    host = "/".join(base.split("/")[:3])
    own = uri.removeprefix(base + "/") if uri.startswith(base + "/") else ""
    for name in (uri, own, uri.removeprefix(host) if uri.startswith(host + "/") else ""):
        found = find_version(tx, name) if name else None
        version = _with_state(tx, base, *found) if found else None
        if version is not None and version.uri == uri:
            return version
    return None


def find_by_id(tx: Transaction, base: str, version_id: str) -> CatalogVersion | None:
    """The version that was given an id, whatever its authority."""
    record = tx.record(_BY_ID, version_id)
    found = _with_state(tx, base, *_READ_STATE.decode(record)) if record else None
    return found if found is not None and found.id == version_id else None


def index_id(tx: Transaction, version: Entity, version_id: str) -> None:
    """Index a version by the id that it was given, so that `find_by_id` finds it."""
    if version_id:
        tx.put_record(_BY_ID, version_id, msgspec.msgpack.encode((version.xid, version.epoch)))


def _with_state(tx: Transaction, base: str, version_xid: str, epoch: int) -> CatalogVersion | None:
    xid = version_xid.rpartition("/versions/")[0]
    if not xid.startswith("/messagegroups/"):
        return None
    states = [
        state for state in read_states(tx, xid) if state.version.xid == version_xid and state.version.epoch == epoch
    ]
    return CatalogVersion(tx, base, xid, load_state(tx, states[-1])) if states else None


def list_versions(context: CatalogRequest) -> Response:
    """The numbers of all versions."""
    require_entity(context.tx, context.path.xid)
    return Response(json=[state.number for state in read_states(context.tx, context.path.xid)])


def get_version(context: CatalogRequest) -> Response:
    """The document of a version, with its attributes as headers."""
    return version_answer(requested_version(context), context.root)


def version_answer(version: CatalogVersion, root: str) -> Response:
    """The document of a version as an answer."""
    original = version.original
    if original is None:
        around = message_context(version.tx, version.xid, root)
        original = Original(content=render_document(version.state, around), contenttype=JSON)
    headers = {
        **attribute_headers(version_attributes(version)),
        **HARMLESS,
        "Content-Type": original.contenttype,
        "Content-Location": version.url,
    }
    return Response(headers=headers, content=original.content)


def version_attributes(version: CatalogVersion) -> dict[str, Any]:
    """The attributes of a version."""
    entity = version.state.version
    group = require_entity(version.tx, version.xid.rpartition("/messages/")[0])
    return {
        "id": version.id,
        "version": version.state.number,
        "format": message_format(version.tx, entity.attributes, group),
        "description": entity.attributes.get("description"),
        "authority": version.authority,
        "uri": version.uri,
        "createdtimeutc": entity.modifiedat,
    }


def message_context(tx: Transaction, xid: str, root: str) -> MessageContext:
    """Where a message is."""
    return MessageContext(tx, xid, require_entity(tx, xid.rpartition("/messages/")[0]), root)
