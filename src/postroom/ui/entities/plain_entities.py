"""Pages that every model gives: collections, and entities that have no page of their own."""

from __future__ import annotations

from typing import Any

from postroom.http.server.response import Response
from postroom.registry.paths import EntityPath
from postroom.registry.query.inline import NOTHING
from postroom.registry.read.render import View, render
from postroom.registry.read.tree import read_collection, read_entity, require_entity
from postroom.ui.page import PageRequest

PAGE_SIZE = 100
HIDDEN = frozenset({"self", "shortself", "xid", "metaurl", "versionsurl", "versionscount", "meta", "versions"})
"""What pages say in other ways, or link to."""


def answer_collection(page: PageRequest, path: EntityPath) -> Response:
    """The members of a collection, a page of them."""
    after = page.query.get("after", "")
    if path.kind != "groups":
        require_entity(page.tx, path.group_xid if path.kind == "resources" else path.resource_xid)
    if path.kind == "versions":
        found = list(read_collection(page.tx, path, NOTHING))
        ids, is_last = found, True
    else:
        ids = page.tx.ids(path.xid, after, PAGE_SIZE + 1)
        is_last = len(ids) <= PAGE_SIZE
        ids = ids[:PAGE_SIZE]
    members = {one: render(tree, View()) for one, tree in read_collection(page.tx, path, NOTHING, only=ids).items()}
    return page.render(
        "collection.html",
        path=path,
        plural=path.ids[-1],
        parents=parents(path),
        total=page.tx.count(path.xid),
        members=[(f"{path.xid}/{one}", one, member) for one, member in members.items()],
        next_url="" if is_last else page.links.page(path.xid, after=ids[-1]),
        after=after,
        json_url=page.links.api(path.xid),
    )


def answer_generic(page: PageRequest, path: EntityPath) -> Response:
    """An entity of any type: its attributes."""
    shown = rendered(page, path)
    return page.render(
        "entity.html",
        xid=path.xid,
        parents=parents(path),
        entity=shown,
        attributes=attributes(shown),
        json_url=json_url(page, path),
    )


def answer_version(page: PageRequest, path: EntityPath) -> Response:
    """One Version of a Resource."""
    return answer_generic(page, path)


def rendered(page: PageRequest, path: EntityPath) -> dict[str, Any]:
    """The entity at a path as clients see it, without URLs; `not_found` where there is none to be seen."""
    return render(read_entity(page.tx, path, NOTHING), View(urls=False))


def attributes(entity: dict[str, Any]) -> list[tuple[str, Any]]:
    """The attributes of an entity that say something, in the order they are written."""
    return [(name, value) for name, value in entity.items() if name not in HIDDEN and not name.endswith("url")]


def parents(path: EntityPath) -> list[tuple[str, str]]:
    """What an entity is in, from the outside: xids and names."""
    steps = path.ids[:-1]
    return [("/" + "/".join(steps[: index + 1]), name) for index, name in enumerate(steps)]


def json_url(page: PageRequest, path: EntityPath) -> str:
    """Where programs read the same."""
    return page.links.api(path.xid) + ("$details" if path.has_document else "")
