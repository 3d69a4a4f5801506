"""The page of a Group: what is in it, which endpoints carry it, and for an endpoint where it is."""

from __future__ import annotations

from typing import Any

from postroom.http.server.response import Response
from postroom.registry.paths import EntityPath, resolve
from postroom.registry.query.inline import NOTHING
from postroom.registry.read.render import View, render
from postroom.registry.read.tree import read_collection
from postroom.ui.entities.catalog_index import addresses, index_of, named_groups
from postroom.ui.entities.plain_entities import PAGE_SIZE, attributes, json_url, parents, rendered
from postroom.ui.page import PageRequest

SHOWN_OTHERWISE = frozenset(
    {
        *("name", "description", "documentation", "deprecated", "labels", "messagegroups", "usage", "icon"),
        *("envelope", "protocol", "createdat", "modifiedat", "epoch"),
        *("messagegroupid", "schemagroupid", "endpointid"),
    }
)


def answer_group(page: PageRequest, path: EntityPath) -> Response:
    """The page of a Group of any type."""
    group = rendered(page, path)
    plural = path.ids[0]
    tree, index = page.catalog.tree, index_of(page.catalog)
    collections = [_collection(page, f"{path.xid}/{one}") for one in path.group.resources]
    carried: list[tuple[str, Any]] = []
    if plural == "endpoints":
        known = tree.get("messagegroups", {})
        carried = [(xid, known.get(xid.rpartition("/")[2])) for xid in named_groups(group, tree)]
    endpoints = index.endpoints_by_group.get(path.xid, []) if plural == "messagegroups" else []
    known_endpoints = tree.get("endpoints", {})
    return page.render(
        "group.html",
        xid=path.xid,
        kind=path.group.singular,
        parents=parents(path),
        group=group,
        collections=collections,
        carried=carried,
        addresses=list(addresses(group)),
        endpoints=[(xid, known_endpoints.get(xid.rpartition("/")[2], {})) for xid in endpoints],
        findings=page.tx.rules.lint(page.tx, [path.xid]),
        attributes=[one for one in attributes(group) if one[0] not in SHOWN_OTHERWISE],
        json_url=json_url(page, path),
    )


def _collection(page: PageRequest, xid: str) -> dict[str, Any]:
    path = resolve(page.tx.model(), xid)
    ids = page.tx.ids(xid, "", PAGE_SIZE)
    members = read_collection(page.tx, path, NOTHING, only=ids)
    return {
        "xid": xid,
        "plural": path.ids[-1],
        "count": page.tx.count(xid),
        "members": [(f"{xid}/{one}", one, render(tree, View(urls=False))) for one, tree in members.items()],
    }
