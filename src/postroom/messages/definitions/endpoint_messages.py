"""Contracts: the messages that an endpoint promises, its own and those of the message groups it names."""

from __future__ import annotations

from postroom.errors import DocumentRefused
from postroom.messages.definitions.catalog_tree import Place, Tree, local_path, members, message_places


def contract(tree: Tree, endpoint: str) -> frozenset[str]:
    """The xids of an endpoint's messages; a borrowed one is its target (EP-012, EP-013)."""
    identifier = endpoint.strip("/").removeprefix("endpoints/")
    found = members(tree, "endpoints").get(identifier)
    if found is None:
        known = ", ".join(members(tree, "endpoints")) or "none"
        raise DocumentRefused(f"the catalog has no endpoint {endpoint!r}; it has: {known}.")
    named = found.get("messagegroups")
    references = named if isinstance(named, list) else []
    groups = {local_path(reference, tree) for reference in references if isinstance(reference, str)}
    homes = {group.rstrip("/") for group in groups if group} | {f"/endpoints/{identifier}"}
    places = (place for place in message_places(tree) if f"/{place.owner_kind}/{place.owner_id}" in homes)
    return frozenset(_target(place, tree) for place in places)


def borrowed_from(place: Place) -> str:
    """What a message is an xref to; empty for one of its own."""
    meta = place.owner["messages"][place.id].get("meta")
    target = meta.get("xref") if isinstance(meta, dict) else None
    return target if isinstance(target, str) else ""


def _target(place: Place, tree: Tree) -> str:
    return local_path(borrowed_from(place), tree) or place.xid
