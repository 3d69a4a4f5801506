"""GET of the 0.5 service: the registry, its model, Groups, Resources and versions, inlined and in pages."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from postroom.documents.dialects.dialect import Tree
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.v0_5.attribute_headers import resource_headers
from postroom.http.v0_5.entity_views import EntityViews, GroupView, VersionView
from postroom.http.v0_5.names import plural, singular, v0_5_path
from postroom.http.v0_5.translate import PLAIN_TRANSLATION
from postroom.http.xregistry import read
from postroom.http.xregistry.document_view import HARMLESS, URL_CHARACTERS
from postroom.http.xregistry.proxied_documents import relay
from postroom.model.types import Model
from postroom.registry.configuration.capabilities import Capabilities
from postroom.registry.entities import Document
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import PAGING, Flags, parse_flags
from postroom.registry.query.page import Page, by_id, read_cursor, read_page
from postroom.registry.read.document_content import proxy_name
from postroom.registry.read.tree import require_entity, stored_collection
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings

SPECVERSION = "0.5-wip"
PAGE = 1000
"""So many members of a collection are in one answer, unless the request says otherwise."""
LARGEST_PAGE = 10_000
_FLAGS = ("epoch", *PAGING)
_KNOWN = Capabilities(flags=("epoch",), pagination=True)


def parse_parameters(request: Request) -> Flags:
    """The parameters of a query that have a value; what 1.0 can be asked for beside them is not known here."""
    return parse_flags([one for one in request.query if one[0] in _FLAGS], _KNOWN, request.path)


def has_parameter(request: Request, name: str) -> bool:
    """Whether a query has a parameter, with any value."""
    return any(name == given for given, _ in request.query)


class ReadHandler:
    """Answers one read of the 0.5 service."""

    def __init__(self, tx: Transaction, request: Request, settings: Settings) -> None:
        self.tx = tx
        self.request = request
        self.settings = settings
        self.states = EntityViews(tx, request.base)

    def answer(self, path: EntityPath) -> Response:
        """What is at a path."""
        match path.kind:
            case "registry":
                return Response(
                    json=model_document(self.tx.model()) if has_parameter(self.request, "model") else self._registry()
                )
            case "group":
                self._check_size(path.xid)
                group = self.states.group(path.group, require_entity(self.tx, path.xid))
                return Response(json=self.group(group, has_parameter(self.request, "inline")))
            case "resource" | "version":
                state = self.states.latest(path) if path.kind == "resource" else self.states.version(path)
                return Response(json=state.metadata) if has_parameter(self.request, "meta") else self.resource(state)
            case _:
                return self._collection(path)

    def group(self, state: GroupView, inline: bool = False, versions: bool = False) -> Tree:
        """A Group with its collections."""
        document = dict(state.document)
        for resource_type in state.group_type.resources.values():
            xid = f"{state.entity.xid}/{resource_type.plural}"
            document[plural(resource_type) + "URL"] = self.request.base + v0_5_path(xid)
            document[plural(resource_type) + "Count"] = self.tx.count(xid)
            if inline:
                path = EntityPath(kind="resources", xid=xid, group_type=state.group_type, resource_type=resource_type)
                found = self.states.resources(path)
                document[plural(resource_type)] = {one: self._inlined(state, versions) for one, state in found.items()}
        return document

    def resource(self, state: VersionView, status: int = 200, location: str = "") -> Response:
        """A Resource as a body with headers, or the way to where it is."""
        headers = resource_headers(state)
        if location:
            headers["Location"] = self.request.base + v0_5_path(location)
        if state.uri and self._is_read():
            return Response(status=307, headers={**headers, "Location": quote(state.uri, safe=URL_CHARACTERS)})
        if state.uri:
            return Response(status=status, headers=headers)
        if not state.resource_type.hasdocument:
            return Response(status=status, headers=headers, json=state.content)
        return self._document(state, headers, status)

    def _document(self, state: VersionView, headers: dict[str, str], status: int) -> Response:
        entity = state.tree.entity
        contenttype = entity.attributes.get("contenttype")
        headers |= {**HARMLESS, **({"Content-Type": contenttype} if contenttype else {})}
        made = Response(status=status, headers=headers, content=(entity.document or Document()).content)
        proxied = entity.attributes.get(proxy_name(state.resource_type.singular))
        return relay(made, proxied, self.settings, is_read=self._is_read()) if proxied else made

    def _is_read(self) -> bool:
        return self.request.method in ("GET", "HEAD")

    def _inlined(self, state: VersionView, versions: bool = False) -> Tree:
        document = {**state.metadata, **state.inlined}
        if versions and state.resource_type.maxversions != 1 and not state.xref:
            path = msgspec.structs.replace(state.path, kind="versions", xid=f"{state.path.xid}/versions")
            document["versions"] = {one: self._inlined(found) for one, found in self.states.versions(path).items()}
        return document

    def _registry(self) -> Tree:
        root, inline, model = require_entity(self.tx, "/"), has_parameter(self.request, "inline"), self.tx.model()
        self._check_size("/")
        own = {name: one for name, one in root.attributes.items() if name not in ("registryid", "capabilities")}
        written = PLAIN_TRANSLATION.write({**own, "createdat": root.createdat, "modifiedat": root.modifiedat})
        document: Tree = {
            "id": root.attributes["registryid"],
            "specVersion": SPECVERSION,
            "self": self.request.base + "/",
            **{name: value for name, value in written.items() if name not in ("id", "self", "specversion")},
            **({"model": model_document(model)} if inline else {}),
        }
        for group_type in model.groups.values():
            document[plural(group_type) + "URL"] = f"{self.request.base}/{plural(group_type)}"
            document[plural(group_type) + "Count"] = self.tx.count(f"/{group_type.plural}")
            if inline:
                groups = [self.states.group(group_type, entity) for entity in self.tx.entities(f"/{group_type.plural}")]
                document[plural(group_type)] = {
                    one.entity.id: self.group(one, inline=True, versions=True) for one in groups
                }
        return document

    def _collection(self, path: EntityPath) -> Response:
        page = self._page(path)
        headers = {"Link": f"<{self._next(page)}>;rel=next;count={page.count}"} if page.next else {}
        return Response(json=self._members(path, page.ids), headers=headers)

    def _members(self, path: EntityPath, ids: list[str]) -> Tree:
        inline = has_parameter(self.request, "inline")
        if path.kind == "groups":
            self._check_size(*(f"{path.xid}/{one}" for one in ids))
            groups = [self.states.group(path.group, require_entity(self.tx, f"{path.xid}/{one}")) for one in ids]
            return {one.entity.id: self.group(one, inline) for one in groups}
        found = self.states.resources(path, ids) if path.kind == "resources" else self.states.versions(path, ids)
        return {one: self._inlined(state) if inline else state.metadata for one, state in found.items()}

    def _page(self, path: EntityPath) -> Page:
        flags = parse_parameters(self.request)
        cursor = read_cursor(flags.cursor, path) if flags.cursor else None
        collection = stored_collection(self.tx, path)
        limit = min(cursor.limit if cursor else flags.limit or PAGE, LARGEST_PAGE)
        return read_page(by_id(self.tx, collection, False), limit, cursor, lambda: self.tx.count(collection))

    def _next(self, page: Page) -> str:
        kept: list[tuple[str, Any]] = [one for one in self.request.query if one[0] not in PAGING]
        if page.next is not None:
            kept.append(("cursor", page.next.token()))
        return f"{self.request.base}{self.request.path}?{urlencode(kept, quote_via=quote)}"

    def _check_size(self, *xids: str) -> None:
        """Nothing is left out of what is inlined; where that is too much, there are pages (D5R-005)."""
        if has_parameter(self.request, "inline") and sum(map(self.tx.size, xids)) > read.MOST_ENTITIES:
            raise RegistryProblem("too_large", self.request.path, detail="Ask for the collections one by one.")


def model_document(model: Model) -> Tree:
    """The types of the model: how many old versions are kept, -1 for all (D5R-003)."""
    return {
        "groups": [
            {
                "singular": singular(group),
                "plural": plural(group),
                "resources": [
                    {
                        "singular": singular(resource_type),
                        "plural": plural(resource_type),
                        "versions": resource_type.maxversions - 1,
                        "mutable": True,
                    }
                    for resource_type in group.resources.values()
                ],
            }
            for group in model.groups.values()
        ]
    }
