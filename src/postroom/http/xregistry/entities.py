"""The xRegistry binding for entities and collections: a request becomes a registry operation, its result an answer."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.http.older_releases.releases import requested_release
from postroom.http.older_releases.translate import translate_response
from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import correlated
from postroom.http.xregistry.attribute_headers import refuse_attributes
from postroom.http.xregistry.configuration import required_json
from postroom.http.xregistry.document_view import document_answer, document_body
from postroom.http.xregistry.preconditions import check_preconditions
from postroom.http.xregistry.read import EntityQuery
from postroom.model.includes import Fetch
from postroom.registry import operations
from postroom.registry.configuration.capabilities import Capabilities
from postroom.registry.paths import Place
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import check_flags, parse_flags
from postroom.registry.query.ignore import IgnoredParts
from postroom.registry.read.render import render
from postroom.registry.read.tree import ResourceTree, VersionTree
from postroom.registry.transaction import Transaction
from postroom.registry.write.unit_of_work import Interaction
from postroom.settings import Settings

METHODS: dict[str, tuple[str, ...]] = {
    "registry": ("GET", "PUT", "PATCH", "POST"),
    "groups": ("GET", "PATCH", "POST", "DELETE"),
    "group": ("GET", "PUT", "PATCH", "POST", "DELETE"),
    "resources": ("GET", "PATCH", "POST", "DELETE"),
    "resource": ("GET", "PUT", "PATCH", "POST", "DELETE"),
    "meta": ("GET", "PUT", "PATCH"),
    "versions": ("GET", "PATCH", "POST", "DELETE"),
    "version": ("GET", "PUT", "PATCH", "DELETE"),
}


class EntityRequest:
    """One request to one place, inside one transaction."""

    def __init__(
        self, tx: Transaction, request: Request, place: Place, capabilities: Capabilities, settings: Settings
    ) -> None:
        self.tx = tx
        self.request = request
        self.place = place
        self.settings = settings
        self.capabilities = capabilities
        self.flags = parse_flags(request.query, capabilities, request.path)
        check_flags(self.flags, place.kind, request.method, request.path)
        self.ignoring = IgnoredParts(tx, place, self.flags.ignores)
        self.query = EntityQuery(tx, request, place, self.flags, self.capabilities)

    def read(self) -> Response:
        """GET."""
        if self.place.is_collection:
            return self.query.collection()
        made = None if self.flags.collections else self.query.text()
        return made or self._entity(self.place)

    def write(self, fetch: Fetch) -> Response:
        """PUT, PATCH, POST or DELETE, with the answer built before anything is committed (REG-084)."""
        interaction = Interaction(self.tx, actor=self.request.actor, capabilities=self.capabilities, fetch=fetch)
        interaction.checks_epochs = "epoch" not in self.flags.ignores
        self.ignoring.check(self.request.path)
        handler = getattr(self, f"_{self.request.method.lower()}")
        answer: Response = handler(interaction)
        interaction.finish()
        return correlated(answer, interaction, self.settings)

    def _delete(self, interaction: Interaction) -> Response:
        members = None
        if self.place.is_collection and self.request.body.strip():
            members = parse_json(self.request.body, self.settings.max_depth, self.request.path)
        members = self.ignoring.deletions(members)
        operations.delete(interaction, self.place, self.flags.epoch, members, self.flags.default)
        return Response(status=204)

    def _put(self, interaction: Interaction, patch: bool = False) -> Response:
        place = self.place
        if self._is_document_request():
            return self._put_document(interaction)
        body = self._metadata()
        match place.kind:
            case "registry":
                operations.update_registry(interaction, body, patch)
                return self._entity(place)
            case "group":
                return self._entity(place, operations.put_group(interaction, place, body, patch))
            case "resource":
                written = operations.put_resource(interaction, place, body, patch, self.flags.default)
                return self._entity(place, written.created)
            case "meta":
                return self._put_meta(interaction, body, patch)
            case _:
                written = operations.put_version(interaction, place, place.ids[5], body, patch, self.flags.default)
                return self._entity(place, bool(written.new_versions))

    def _put_meta(self, interaction: Interaction, body: Any, patch: bool) -> Response:
        is_new = self.tx.entity(self.place.resource_xid) is None
        try:
            operations.put_meta(interaction, self.place, body, patch, self.flags.default)
        except RegistryProblem as problem:
            # Other servers say where the meta would have been, unless it would be a reference to nowhere.
            if is_new and problem.name != "malformed_xref":
                problem.extra_headers["location"] = self.request.base + self.place.xid
            raise
        return self._entity(self.place, is_new)

    def _patch(self, interaction: Interaction) -> Response:
        if self.place.is_collection:
            return self._write_members(interaction, patch=True)
        if self._is_document_request():
            raise RegistryProblem("details_required", self.request.path)
        return self._put(interaction, patch=True)

    def _post(self, interaction: Interaction) -> Response:
        place = self.place
        if place.is_collection:
            return self._write_members(interaction, patch=False)
        if place.kind == "resource":
            return self._post_version(interaction)
        body = self._metadata()
        if place.kind == "registry":
            written = operations.put_groups(interaction, body)
            return Response(json={p: self.query.members(f"/{p}", ids) for p, ids in written.items()})
        written = operations.put_resource_collections(interaction, place, body)
        return Response(json={p: self.query.members(f"{place.xid}/{p}", ids) for p, ids in written.items()})

    def _post_version(self, interaction: Interaction) -> Response:
        document = self._is_document_request()
        body = self._document_body() if document else self._metadata()
        default = self.flags.default
        written = operations.put_version(interaction, self.place, None, body, document, default)
        place = self._version_place(written.versions[0])
        return self._entity(place, bool(written.new_versions))

    def _put_document(self, interaction: Interaction) -> Response:
        body, default = self._document_body(), self.flags.default
        if self.place.kind == "resource":
            written = operations.put_resource(interaction, self.place, body, True, default)
            return self._entity(self.place, written.created)
        written = operations.put_version(interaction, self.place, self.place.ids[5], body, True, default)
        return self._entity(self.place, bool(written.new_versions))

    def _write_members(self, interaction: Interaction, patch: bool) -> Response:
        place, body = self.place, self._metadata()
        if place.kind == "versions":
            written = operations.put_versions(interaction, place, body, patch, self.flags.default)
            return Response(json=self.query.members(place.xid, list(written.versions)))
        return Response(json=self.query.members(place.xid, operations.put_members(interaction, place, body, patch)))

    def _is_document_request(self) -> bool:
        return self.place.has_document and not self.place.details and not self.flags.doc

    def _metadata(self) -> Any:
        refuse_attributes(self.request.headers, self.request.path)
        return self.ignoring.remove_from(
            required_json(self.request, self.settings), is_post=self.request.method == "POST"
        )

    def _document_body(self) -> dict[str, Any]:
        body = document_body(self.place.resource, self.request)
        remaining: dict[str, Any] = self.ignoring.remove_from(body, is_post=self.request.method == "POST")
        return remaining

    def _version_place(self, version_id: str) -> Place:
        xid = f"{self.place.resource_xid}/versions/{version_id}"
        return msgspec.structs.replace(self.place, kind="version", xid=xid)

    def _entity(self, place: Place, created: bool = False) -> Response:
        if self.flags.collections:
            return Response(status=201 if created else 200, json=self.query.collections())
        tree, view = self.query.entity(place)
        if self._is_document_request() and isinstance(tree, ResourceTree | VersionTree):
            return document_answer(tree, view, self.request, created, self.settings)
        details = "$details" if place.details else ""
        headers = {"Location": self.request.base + place.xid + details} if created else {}
        return Response(status=201 if created else 200, headers=headers, json=render(tree, view))


def answer_entities(
    tx: Transaction, request: Request, place: Place, capabilities: Capabilities, settings: Settings, fetch: Fetch
) -> Response:
    """Answer a request to a path of the model; its method is known to be allowed."""
    if request.method == "GET":
        return EntityRequest(tx, request, place, capabilities, settings).read()

    def read(reading: Request) -> Response:
        made = EntityRequest(tx, reading, place, capabilities, settings).read()
        release = requested_release(reading.query, capabilities)
        return made if release is None else translate_response(release, made, reading, tx)

    check_preconditions(request, read, settings)
    return EntityRequest(tx, request, place, capabilities, settings).write(fetch)
