"""Reader of all entities of a service, by whatever it offers; a collection that stays incomplete is an error.

A service that inlines is read in one request. One that ignores `?inline` (a static site, a service without that flag)
is read through `/export`, else entity by entity: collections page by page, `meta`, Versions and documents by URL.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from postroom.catalog.service_client import MEGABYTE, ServiceClient, next_page, problem_in
from postroom.catalog.service_entities import (
    Tree,
    as_document,
    collections_of,
    find_incomplete,
    has_stated_count,
    resource_types,
    url_path,
)
from postroom.errors import DocumentRefused, ServiceRefused
from postroom.model.types import ResourceType
from postroom.outbound.policy import OutboundResponse
from postroom.registry.entities import Document
from postroom.registry.read.document_content import document_names, inline_document, proxy_name
from postroom.urls import join_url

log = logging.getLogger(__name__)
PROGRESS = logging.getLogger("postroom.progress")
"""Progress of a long read; commands show it while they wait."""

MAX_REQUESTS = 100_000
MAX_SECONDS = 3600.0
_SIZE_FACTOR = 16
"""One by one, entities take more bytes than in one document: each Version is in several answers."""
_PROGRESS_EVERY = 50
REFUSES_INLINE = (400, 405, 406, 413, 414, 501)
"""How a service says that it does not inline, if it says so."""
_CONFIGURATION = ("model", "modelsource", "capabilities")


class ServiceReader:
    """Reads the entities of one service. With `binary`, documents are wanted as their exact bytes."""

    def __init__(self, client: ServiceClient, *, binary: bool = False) -> None:
        self.client = client
        self.name = client.name
        self.binary = binary
        self._flags: frozenset[str] | None = None
        self._self = ""
        self.begin()

    def begin(self) -> None:
        """Begin to read: the limits hold from here."""
        self._requests = 0
        self._bytes = 0
        self._deadline = time.monotonic() + MAX_SECONDS

    def whole(self, *, modelsource: bool = False) -> Tree:
        """The registry with everything in it; its model only where that is wanted."""
        self.begin()
        root = self._read_inlined("*,modelsource" if modelsource else "*")
        tree = as_document(
            root if not find_incomplete(root) else self._read_export(root) or self._read_one_by_one(root)
        )
        kept = {name: value for name, value in tree.items() if name not in _CONFIGURATION}
        source = (tree.get("modelsource") or self._modelsource()) if modelsource and "specversion" in tree else None
        return {**kept, "modelsource": source} if source else kept

    def registry(self) -> Tree:
        """The registry itself, with nothing inlined."""
        return self._remember_url(self.object("/"))

    def model(self) -> Any:
        """The model as the service shows it."""
        return self.client.json(self.ask("/model"), "/model")

    def entity(self, path: str) -> Tree | None:
        """An entity; None when there is none."""
        reply = self.ask(path)
        return None if reply.status == 404 else self.object_in(reply, path)

    def object(self, path: str) -> Tree:
        """An entity that has to be there."""
        return self.object_in(self.ask(path), path)

    def object_in(self, reply: OutboundResponse, path: str) -> Tree:
        """The entity or collection of an answer that has to be a good one."""
        return _object(self.client.json(reply, path), self.name)

    def members(self, holder: Tree, xid: str, *, inline: bool = False, details: str = "") -> Tree:
        """A collection with as many members as its holder says. Where they differ, both are read once more.

        `details` is what the path of the holder ends with where the holder itself is a document.
        """
        home, _, name = xid.rpartition("/")
        found = self._pages(holder, xid, inline)
        if not has_stated_count(holder, name, found):
            holder = self.object((url_path(home) or "/") + details)
            found = self._pages(holder, xid, inline)
        if not has_stated_count(holder, name, found):
            raise ServiceRefused(
                f"it says that {xid} has {holder[name + 'count']} members, and gives {len(found)}.",
                place=self.name,
                remedy="Is it complete? If it is being written to, try again.",
            )
        return found

    def resources(self, group: Tree, xid: str, resource_type: ResourceType) -> Iterator[tuple[str, Tree]]:
        """The Resources of one type in a Group, each with all that belongs to it."""
        place = f"{xid}/{resource_type.plural}"
        for one, seen in self.members(group, place, inline=True).items():
            yield one, self.resource(_object(seen, self.name), f"{place}/{one}", resource_type)

    def resource(self, seen: Tree, xid: str, resource_type: ResourceType) -> Tree:
        """A Resource with its meta, its Versions and their documents; what was not inlined is asked for."""
        meta = seen.get("meta")
        if not isinstance(meta, dict):
            meta = self.object(self._address(seen, f"{xid}/meta"))
        if meta.get("xref"):
            return {**seen, "meta": meta}
        versions = seen.get("versions")
        if not isinstance(versions, dict) or not has_stated_count(seen, "versions", versions):
            details = "$details" if resource_type.hasdocument else ""
            versions = self.members(seen, f"{xid}/versions", inline=True, details=details)
            if resource_type.hasdocument:
                versions = {
                    one: self._with_document(v, f"{xid}/versions/{one}", resource_type) for one, v in versions.items()
                }
        return {**seen, "meta": meta, "versions": versions}

    def inlining(self, path: str) -> str:
        """A path with the flags that bring along everything below it, as far as the service has them."""
        if self._flags is None:
            reply = self.ask("/capabilities")
            found = self.client.json(reply, "/capabilities") if reply.is_success else {}
            flags = found.get("flags") if isinstance(found, dict) else None
            self._flags = frozenset(map(str, flags)) if isinstance(flags, list) else frozenset()
        wanted = {"inline": "inline=*", **({"binary": "binary"} if self.binary else {})}
        query = "&".join(text for flag, text in wanted.items() if flag in self._flags)
        return f"{path}{'&' if '?' in path else '?'}{query}" if query else path

    def ask(self, path: str, headers: dict[str, str] | None = None) -> OutboundResponse:
        """Any answer to a GET, within the limits of one read."""
        reply = self.client.ask("GET", path, headers=headers)
        self._requests += 1
        self._bytes += len(reply.body)
        if self._requests % _PROGRESS_EVERY == 0:
            PROGRESS.info("Reading %s: %s requests", self.name, f"{self._requests:,}")
        most = _SIZE_FACTOR * self.client.max_bytes
        if self._requests > MAX_REQUESTS or self._bytes > most or time.monotonic() > self._deadline:
            raise DocumentRefused(
                f"it takes more than {MAX_REQUESTS:,} requests, {most // MEGABYTE:,} MB or {MAX_SECONDS:,.0f} seconds.",
                place=self.name,
                remedy="Give a document that has all of it, such as what /export answers.",
            )
        return reply

    def _read_inlined(self, inline: str) -> Tree:
        reply = self.ask(f"/?inline={inline}")
        return self.registry() if reply.status in REFUSES_INLINE else self._remember_url(self.object_in(reply, "/"))

    def _remember_url(self, root: Tree) -> Tree:
        self._self = str(root.get("self") or "").rstrip("/")
        return root

    def _read_export(self, root: Tree) -> Tree | None:
        """What `/export` answers, where that is all that the registry says it has."""
        reply = self.ask("/export")
        try:
            found = msgspec.json.decode(reply.body) if reply.is_success else None
        except (msgspec.DecodeError, RecursionError):
            return None
        if not isinstance(found, dict) or find_incomplete(found) or find_incomplete({**found, **_counts(root)}):
            return None
        return found

    def _read_one_by_one(self, root: Tree) -> Tree:
        PROGRESS.info("Reading %s: it does not inline, so its entities are read one by one", self.name)
        tree, model = dict(root), _object(self.model(), self.name)
        types = resource_types(model)
        for plural, resources in types.items():
            groups = self.members(root, f"/{plural}")
            tree[plural] = {one: self._group(group, f"/{plural}/{one}", resources) for one, group in groups.items()}
        declared = model.get("attributes") or {}
        for name, count, _ in collections_of(root):
            if count and name not in types and name + "count" not in declared:
                raise ServiceRefused(f"its model does not say what {name} are.", place=self.name)
        return tree

    def _group(self, seen: Any, xid: str, resources: dict[str, ResourceType]) -> Tree:
        group = _object(seen, self.name)
        return {
            **group,
            **{name: dict(self.resources(group, xid, resource_type)) for name, resource_type in resources.items()},
        }

    def _modelsource(self) -> Any:
        """The model as it was written; where that is not to be had, the full one, which means the same; else None."""
        for path in ("/modelsource", "/model"):
            reply = self.ask(path)
            if reply.is_success:
                return self.object_in(reply, path)
        log.warning("%s does not give its model; groups of types of its own cannot be loaded elsewhere.", self.name)
        return None

    def _pages(self, holder: Tree, xid: str, inline: bool) -> Tree:
        found: Tree = {}
        path = self._address(holder, xid)
        path, seen = self.inlining(path) if inline else path, set[str]()
        while path:
            if path in seen:
                raise ServiceRefused(f"the pages of {xid} go round in a circle.", place=self.name)
            reply = self.ask(path)
            if reply.status == 404 and not seen:
                return {}
            found |= self.object_in(reply, path)
            seen.add(path)
            path = next_page(reply)
        return found

    def _address(self, holder: Tree, xid: str) -> str:
        """Where something is: at the URL that its holder gives, if that may be asked, else at its usual path.

        A copy of a registry gives the URLs of the registry that it was copied from; they are taken for its own.
        """
        given = holder.get(xid.rpartition("/")[2] + "url")
        if not isinstance(given, str) or given.startswith("#"):
            return url_path(xid)
        url = join_url(self.client.base + "/", given) or ""
        if self._self and url.startswith(self._self + "/"):
            return url.removeprefix(self._self)
        return url if self.client.reaches(url) else url_path(xid)

    def _with_document(self, seen: Any, xid: str, resource_type: ResourceType) -> Tree:
        """A Version with its document, asked for on its own unless it is there or elsewhere."""
        version = _object(seen, self.name)
        if any(
            name in version for name in (*document_names(resource_type.singular), proxy_name(resource_type.singular))
        ):
            return version
        reply = self.ask(url_path(xid))
        if not reply.is_success:
            raise ServiceRefused(f"{xid} answers {reply.status}: {problem_in(reply)}", place=self.name)
        if not reply.body:
            return version
        return {
            **version,
            **inline_document(
                resource_type, Document(content=reply.body, text=True), version.get("contenttype"), self.binary
            ),
        }


def _counts(root: Tree) -> Tree:
    return {name: value for name, value in root.items() if name.endswith(("url", "count"))}


def _object(value: Any, name: str) -> Tree:
    if not isinstance(value, dict):
        raise ServiceRefused("it answers something that is no registry.", place=name)
    return value
