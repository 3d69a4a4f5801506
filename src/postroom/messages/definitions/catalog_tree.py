"""Lookup in a catalog document: messages, those of an endpoint, default versions, and what references point to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

from postroom.errors import DocumentRefused

Tree = dict[str, Any]

MESSAGE_OWNERS = ("messagegroups", "endpoints")
_MESSAGE_PATHS = (["messages"], ["messages", "versions"])


class CatalogMessage(msgspec.Struct, frozen=True):
    """A message in a catalog: its xid, its owner and what the author wrote."""

    xid: str
    owner_type: str
    owner_id: str
    owner: Tree
    id: str
    message: Tree


def members(holder: Any, name: str) -> Tree:
    """A collection of a document; one that is absent or of the wrong type is empty."""
    found = holder.get(name) if isinstance(holder, dict) else None
    return {key: value for key, value in found.items() if isinstance(value, dict)} if isinstance(found, dict) else {}


def member(holder: Any, name: str, key: str) -> Tree | None:
    """One member of a collection, or None."""
    found = holder.get(name) if isinstance(holder, dict) else None
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, dict) else None


def catalog_messages(tree: Tree) -> Iterator[CatalogMessage]:
    """Every message of a catalog, those of message groups and those that endpoints own."""
    for owner_type in MESSAGE_OWNERS:
        for owner_id, owner in members(tree, owner_type).items():
            for message_id, message in members(owner, "messages").items():
                xid = f"/{owner_type}/{owner_id}/messages/{message_id}"
                yield CatalogMessage(xid, owner_type, owner_id, owner, message_id, default_version(message))


def find_message(tree: Tree, xid: str) -> CatalogMessage | None:
    """The message with that xid (a version's xid finds that version)."""
    parts = xid.strip("/").split("/")
    if len(parts) not in (4, 6) or parts[0] not in MESSAGE_OWNERS or parts[2::2] not in _MESSAGE_PATHS:
        return None
    owner = member(tree, parts[0], parts[1])
    message = member(owner, "messages", parts[3])
    if owner is None or message is None:
        return None
    chosen = _named_version(message, parts[5]) if len(parts) == 6 else default_version(message)
    if chosen is None:
        return None
    return CatalogMessage("/" + "/".join(parts), parts[0], parts[1], owner, parts[3], chosen)


def find_base(tree: Tree, xid: str) -> CatalogMessage | None:
    """The message that a base reference leads to; an xref is followed, once (RES-057)."""
    path = xid.strip("/").split("/")
    entry = find_message(tree, "/".join(path[:4]))
    target = None if entry is None else local_path(xref_target(entry), tree)
    return find_message(tree, "/".join([target, *path[4:]]) if target else xid)


def xref_target(entry: CatalogMessage) -> str:
    """The reference of a message that is an xref; empty for any other."""
    meta = entry.owner["messages"][entry.id].get("meta")
    target = meta.get("xref") if isinstance(meta, dict) else None
    return target if isinstance(target, str) else ""


def endpoint_messages(tree: Tree, endpoint: str) -> frozenset[str]:
    """The xids of an endpoint's messages; an xref counts as its target (EP-012, EP-013)."""
    identifier = endpoint.strip("/").removeprefix("endpoints/")
    found = members(tree, "endpoints").get(identifier)
    if found is None:
        known = ", ".join(members(tree, "endpoints")) or "none"
        raise DocumentRefused(f"the catalog has no endpoint {endpoint!r}; it has: {known}.")
    named = found.get("messagegroups")
    references = named if isinstance(named, list) else []
    groups = {local_path(reference, tree) for reference in references if isinstance(reference, str)}
    owners = {group.rstrip("/") for group in groups if group} | {f"/endpoints/{identifier}"}
    owned = (entry for entry in catalog_messages(tree) if f"/{entry.owner_type}/{entry.owner_id}" in owners)
    return frozenset(local_path(xref_target(entry), tree) or entry.xid for entry in owned)


def default_version(resource: Tree) -> Tree:
    """A resource's default version, merged over the attributes of the resource itself."""
    versions = members(resource, "versions")
    if not versions:
        return resource
    own = {key: value for key, value in resource.items() if key not in ("versions", "meta")}
    meta = resource.get("meta")
    chosen = meta.get("defaultversionid") if isinstance(meta, dict) else None
    if not isinstance(chosen, str) or chosen not in versions:
        chosen = max(versions, key=lambda key: version_age(key, versions[key]))
    return {**own, "versionid": chosen, **versions[chosen]}


def _named_version(resource: Tree, name: str) -> Tree | None:
    """One Version of a resource. A file or an export with a single one writes it as the resource itself; where it does
    not say its id, it is the one that a registry gives."""
    default = default_version(resource)
    is_default = name == str(default.get("versionid") or "1")
    return default if is_default else member(resource, "versions", name)


def version_age(name: str, version: Tree) -> tuple[str, int, str]:
    """The order of Versions: by creation; where no times are given, by number, then by spelling."""
    return (str(version.get("createdat", "")), int(name) if name.isdecimal() and len(name) < 20 else -1, name)


def version_order(name: str) -> tuple[int, str]:
    """The order of Versions in 0.5: of ids padded with spaces on the left, so of numbers where they are (C-66)."""
    return len(name), name


def local_path(reference: str, tree: Tree) -> str | None:
    """The path inside this catalog that a reference points to; None for one outside it."""
    own = tree.get("self")
    if isinstance(own, str) and own and reference.startswith(own):
        reference = "/" + reference[len(own) :].lstrip("/")
    if reference.startswith("#/"):
        reference = reference[1:]
    path, hash_, fragment = reference.partition("#")
    # The address of an entity that has a document is that of its details.
    reference = path.removesuffix("$details") + hash_ + fragment
    return unquote(reference) if reference.startswith("/") else None
