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
from postroom.http.services.lint import with_findings
from postroom.http.xregistry.attribute_headers import refuse_attributes
from postroom.http.xregistry.configuration import required_json
from postroom.http.xregistry.document_view import document_answer, document_body
from postroom.http.xregistry.preconditions import check_preconditions
from postroom.http.xregistry.read import EntityQuery
from postroom.model.includes import Fetch
from postroom.registry import operations
from postroom.registry.configuration.capabilities import Capabilities
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import check_flags, parse_flags
from postroom.registry.query.ignore import IgnoredParts
from postroom.registry.read.render import render
from postroom.registry.read.tree import ResourceTree, VersionTree
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.merge_attributes import as_body
from postroom.registry.write.unit_of_work import UnitOfWork
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
    """One request to one path, inside one transaction."""

    def __init__(
        self, tx: Transaction, request: Request, path: EntityPath, capabilities: Capabilities, settings: Settings
    ) -> None:
        self.tx = tx
        self.request = request
        self.path = path
        self.settings = settings
        self.capabilities = capabilities
        self.flags = parse_flags(request.query, capabilities, request.path)
        check_flags(self.flags, path.kind, request.method, request.path)
        self.ignoring = IgnoredParts(tx, path, self.flags.ignores)
        self.query = EntityQuery(tx, request, path, self.flags, self.capabilities)

    def read(self) -> Response:
        """GET."""
        if self.path.is_collection:
            return self.query.collection()
        made = None if self.flags.collections else self.query.text()
        return made or self._entity(self.path)

    def write(self, fetch: Fetch) -> Response:
        """PUT, PATCH, POST or DELETE, with the answer built before anything is committed (REG-084)."""
        work = UnitOfWork(self.tx, actor=self.request.actor, capabilities=self.capabilities, fetch=fetch)
        work.checks_epochs = "epoch" not in self.flags.ignores
        self.ignoring.check(self.request.path)
        handler = getattr(self, f"_{self.request.method.lower()}")
        answer: Response = handler(work)
        work.finish()
        answer = with_findings(answer, self.request, self.path, self.tx, self.settings)
        return correlated(answer, work, self.settings)

    def _delete(self, work: UnitOfWork) -> Response:
        members = None
        if self.path.is_collection and self.request.body.strip():
            written = parse_json(self.request.body, self.settings.max_depth, self.request.path)
            members = as_body(written, self.path.xid)  # a `null` is no map, and does not ask for everything either
        members = self.ignoring.deletions(members)
        operations.delete(work, self.path, self.flags.epoch, members, self.flags.default)
        return Response(status=204)

    def _put(self, work: UnitOfWork, patch: bool = False) -> Response:
        path = self.path
        if self._is_document_request():
            return self._put_document(work)
        body = self._metadata()
        match path.kind:
            case "registry":
                operations.update_registry(work, body, patch)
                return self._entity(path)
            case "group":
                return self._entity(path, operations.put_group(work, path, body, patch))
            case "resource":
                written = operations.put_resource(work, path, body, patch, self.flags.default)
                return self._entity(path, written.created)
            case "meta":
                return self._put_meta(work, body, patch)
            case _:
                written = operations.put_version(work, path, path.ids[5], body, patch, self.flags.default)
                return self._entity(path, bool(written.new_versions))

    def _put_meta(self, work: UnitOfWork, body: Any, patch: bool) -> Response:
        is_new = self.tx.entity(self.path.resource_xid) is None
        try:
            operations.put_meta(work, self.path, body, patch, self.flags.default)
        except RegistryProblem as problem:
            # Other servers say where the meta would have been, unless it would be a reference to nowhere.
            if is_new and problem.name != "malformed_xref":
                problem.extra_headers["location"] = self.request.base + self.path.xid
            raise
        return self._entity(self.path, is_new)

    def _patch(self, work: UnitOfWork) -> Response:
        if self.path.is_collection:
            return self._write_members(work, patch=True)
        if self._is_document_request():
            raise RegistryProblem("details_required", self.request.path)
        return self._put(work, patch=True)

    def _post(self, work: UnitOfWork) -> Response:
        path = self.path
        if path.is_collection:
            return self._write_members(work, patch=False)
        if path.kind == "resource":
            return self._post_version(work)
        body = self._metadata()
        if path.kind == "registry":
            written = operations.put_groups(work, body)
            return Response(json={p: self.query.members(f"/{p}", ids) for p, ids in written.items()})
        written = operations.put_resource_collections(work, path, body)
        return Response(json={p: self.query.members(f"{path.xid}/{p}", ids) for p, ids in written.items()})

    def _post_version(self, work: UnitOfWork) -> Response:
        document = self._is_document_request()
        body = self._document_body() if document else self._metadata()
        default = self.flags.default
        written = operations.put_version(work, self.path, None, body, document, default)
        xid = f"{self.path.resource_xid}/versions/{written.versions[0]}"
        path = msgspec.structs.replace(self.path, kind="version", xid=xid)
        return self._entity(path, bool(written.new_versions))

    def _put_document(self, work: UnitOfWork) -> Response:
        body, default = self._document_body(), self.flags.default
        if self.path.kind == "resource":
            written = operations.put_resource(work, self.path, body, True, default)
            return self._entity(self.path, written.created)
        written = operations.put_version(work, self.path, self.path.ids[5], body, True, default)
        return self._entity(self.path, bool(written.new_versions))

    def _write_members(self, work: UnitOfWork, patch: bool) -> Response:
        path, body = self.path, self._metadata()
        if path.kind == "versions":
            written = operations.put_versions(work, path, body, patch, self.flags.default)
            return Response(json=self.query.members(path.xid, list(written.versions)))
        return Response(json=self.query.members(path.xid, operations.put_members(work, path, body, patch)))

    def _is_document_request(self) -> bool:
        return self.path.has_document and not self.path.details and not self.flags.doc

    def _metadata(self) -> Any:
        refuse_attributes(self.request.headers, self.request.path)
        return self.ignoring.remove_from(
            required_json(self.request, self.settings), is_post=self.request.method == "POST"
        )

    def _document_body(self) -> dict[str, Any]:
        body = document_body(self.path.resource, self.request)
        remaining: dict[str, Any] = self.ignoring.remove_from(body, is_post=self.request.method == "POST")
        return remaining

    def _entity(self, path: EntityPath, created: bool = False) -> Response:
        if self.flags.collections:
            return Response(status=201 if created else 200, json=self.query.collections())
        tree, view = self.query.entity(path)
        if self._is_document_request() and isinstance(tree, ResourceTree | VersionTree):
            return document_answer(tree, view, self.request, created, self.settings)
        details = "$details" if path.details else ""
        headers = {"Location": self.request.base + path.xid + details} if created else {}
        return Response(status=201 if created else 200, headers=headers, json=render(tree, view))


def answer_entities(
    tx: Transaction, request: Request, path: EntityPath, capabilities: Capabilities, settings: Settings, fetch: Fetch
) -> Response:
    """Answer a request to a path of the model; its method is known to be allowed."""
    if request.method == "GET":
        return EntityRequest(tx, request, path, capabilities, settings).read()

    def read(reading: Request) -> Response:
        made = EntityRequest(tx, reading, path, capabilities, settings).read()
        release = requested_release(reading.query, capabilities)
        return made if release is None else translate_response(release, made, reading, tx)

    check_preconditions(request, read, settings)
    return EntityRequest(tx, request, path, capabilities, settings).write(fetch)
