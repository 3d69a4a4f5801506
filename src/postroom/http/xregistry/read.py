"""What an answer shows: the tree at a path, cut by the flags, in the view that the flags ask for."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import JSON_TYPE, MustFetch
from postroom.http.server.streamed_json import written
from postroom.registry.configuration.capabilities import Capabilities, read_capabilities
from postroom.registry.paths import EntityPath, resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.filter import UNFILTERED, FilterScope, filter_scope, parse_filter
from postroom.registry.query.flags import PAGING, Flags
from postroom.registry.query.inline import ALL, CONFIGURATION, NOTHING, Inline, parse_inline
from postroom.registry.query.page import Cursor, Page, by_id, by_value, read_cursor, read_page
from postroom.registry.query.sort import BY_ID, Sort, parse_sort
from postroom.registry.read.render import View, render, render_collection
from postroom.registry.read.tree import (
    Collection,
    Tree,
    read_collection,
    read_entity,
    require_entity,
    stored_collection,
)
from postroom.registry.transaction_interface import Transaction

MOST_ENTITIES = 1_000_000
"""More than this is not put into one answer (FLAG-054)."""
LARGE = frozenset({"registry", "groups", "group", "resources"})
"""What may have any number of entities below it."""
WITH_META = Inline(names={"meta": NOTHING})


class EntityQuery:
    """Reads what one response shows. Flags are read against the model when they are used: a write may change it."""

    def __init__(
        self, tx: Transaction, request: Request, path: EntityPath, flags: Flags, capabilities: Capabilities
    ) -> None:
        self.tx = tx
        self.request = request
        self.path = path
        self.flags = flags
        self.capabilities = capabilities
        self.order = parse_sort(path, flags.sort, request.path)
        parse_filter(tx.model(), path, flags.filters, request.path)
        if flags.limit is not None and not path.is_collection:
            raise RegistryProblem("bad_request", request.path, error_detail="limit is for collections only")

    @functools.cached_property
    def inline(self) -> Inline:
        """What to show in full below the path of the request."""
        return self._inline_at(self.path)

    @functools.cached_property
    def scope(self) -> FilterScope:
        """What to show of what is at the path of the request."""
        wanted = parse_filter(self.tx.model(), self.path, self.flags.filters, self.request.path)
        seen = View(base=self.request.base, inline=WITH_META if wanted and wanted.mentions_meta else NOTHING)
        return filter_scope(wanted, lambda tree: render(tree, seen))

    def entity(self, path: EntityPath) -> tuple[Tree, View]:
        """An entity and how to show it."""
        is_target = path == self.path
        inline = self.inline if is_target else self._inline_at(path)
        self._check_doc(path)
        self._check_size(path, inline)
        tree = read_entity(self.tx, path, inline, self.scope if is_target else UNFILTERED)
        return tree, self.view(inline, path.xid)

    def collections(self) -> dict[str, Any]:
        """The nested collections of the Registry or a Group and nothing else (FLAG-005)."""
        self._check_size(self.path, ALL)
        document = render(read_entity(self.tx, self.path, ALL, self.scope), self.view(ALL))
        plurals = self.tx.model().groups if self.path.kind == "registry" else self.path.group.resources
        shown = {name for plural in plurals for name in (plural, plural + "url", plural + "count")}
        return {name: value for name, value in document.items() if name in shown}

    def collection(self) -> Response:
        """The targeted collection: all of it, or a page."""
        self._check_doc(self.path)
        if self.flags.limit is not None or self.flags.cursor:
            return self._page()
        self._check_size(self.path, self.inline)
        if made := self.text():
            return made
        found = read_collection(self.tx, self.path, self.inline, scope=self.scope)
        return Response(json=render_collection(self._sorted(found), self.view(self.inline)))

    def text(self) -> Response | None:
        """What is at the path, as JSON text written in pieces; None where it is small, or has to stay a value."""
        is_small = not self.path.is_collection and self.inline == NOTHING
        is_chosen = self.scope.is_on or self.order is not None
        if is_small or is_chosen or self.request.keeps_json or self.path.kind not in LARGE:
            return None
        self._check_size(self.path, self.inline)
        with suppress(MustFetch):
            pieces = written(self.tx, self.path, self.view(self.inline))
            return Response(headers={"Content-Type": JSON_TYPE}, content=b"".join(pieces))
        return None

    def members(self, xid: str, ids: Iterable[str]) -> dict[str, Any]:
        """Some members of a collection that is the target, or directly below it."""
        path = self.path if xid == self.path.xid else resolve(self.tx.model(), xid)
        is_target = path.xid == self.path.xid
        inline = self.inline if is_target else self.inline.below(path.ids[-1]) or NOTHING
        found = read_collection(self.tx, path, inline, ids, self.scope if is_target else UNFILTERED)
        return render_collection(self._sorted(found) if is_target else found, self.view(inline))

    def view(self, inline: Inline, root: str = "") -> View:
        """How to show what starts at a path."""
        shown = read_capabilities(self.tx).document() if inline.shows("capabilities") else {}
        return View(
            base=self.request.base,
            inline=inline,
            doc=self.flags.doc,
            binary=self.flags.binary,
            root=root or self.path.xid,
            shortself=self.capabilities.shortself,
            capabilities=shown,
        )

    def _inline_at(self, path: EntityPath) -> Inline:
        inline = parse_inline(self.tx.model(), path, self.flags.inline) if self.flags.inline else NOTHING
        for name in CONFIGURATION:
            if inline.shows(name):
                self.capabilities.require(name)
        return inline

    def _check_doc(self, path: EntityPath) -> None:
        if not self.flags.doc or path.kind not in ("versions", "version"):
            return
        if "xref" in require_entity(self.tx, path.resource_xid, path.xid).attributes:
            raise RegistryProblem("cannot_doc_xref", path.resource_xid)

    def _check_size(self, path: EntityPath, inline: Inline) -> None:
        if inline != NOTHING and self.tx.size(path.xid) > MOST_ENTITIES:
            raise RegistryProblem("too_large", self.request.path)

    def _sorted(self, found: Collection) -> Collection:
        if self.order is None:
            return found
        take = by_value(self._marks(found, self.order), self.order)
        members: dict[str, Any] = dict(found)
        return {entity_id: members[entity_id] for _, entity_id in take(None, len(members), False)}

    def _marks(self, found: Collection, order: Sort) -> list[tuple[Any, str]]:
        seen = View(base=self.request.base, inline=WITH_META if order.path[:1] == ("meta",) else NOTHING)
        return [(order.value(render(tree, seen)) if order.path else None, one) for one, tree in found.items()]

    def _page(self) -> Response:
        cursor = read_cursor(self.flags.cursor, self.path) if self.flags.cursor else None
        limit = cursor.limit if cursor else self.flags.limit or 1
        page = self._turned(limit, cursor)
        if len(page.ids) == page.count:
            self._check_size(self.path, self.inline)
        found = read_collection(self.tx, self.path, self.inline, page.ids, self.scope)
        headers = {"Link": links} if (links := self._links(page)) else {}
        return Response(json=render_collection(found, self.view(self.inline)), headers=headers)

    def _turned(self, limit: int, cursor: Cursor | None) -> Page:
        order = self.order or BY_ID
        if not order.path and not self.scope.is_on:
            collection = stored_collection(self.tx, self.path)
            return read_page(
                by_id(self.tx, collection, order.descending), limit, cursor, lambda: self.tx.count(collection)
            )
        found = read_collection(self.tx, self.path, NOTHING, scope=self.scope)
        return read_page(by_value(self._marks(found, order), order), limit, cursor, lambda: len(found))

    def _links(self, page: Page) -> str:
        beside = {"next": page.next, "prev": page.prev}
        return ", ".join(
            f"<{self._page_url(cursor)}>;rel={name};count={page.count}" for name, cursor in beside.items() if cursor
        )

    def _page_url(self, cursor: Cursor) -> str:
        kept = [(name, value) for name, value in self.request.query if name not in PAGING]
        return (
            f"{self.request.base}{self.request.path}?{urlencode([*kept, ('cursor', cursor.token())], quote_via=quote)}"
        )


def export_flags(flags: Flags, capabilities: Capabilities) -> Flags:
    """The flags of `/export`: document view, and everything inlined unless the request says otherwise (EXP-001)."""
    named = [name for name in ("capabilities", "modelsource") if name in capabilities.available]
    return msgspec.structs.replace(flags, doc=True, inline=flags.inline or (",".join(["*", *named]),))
