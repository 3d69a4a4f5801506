"""Finding one's way in a catalog document: groups, messages, schemas, and what references point to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

Tree = dict[str, Any]

MESSAGE_OWNERS = ("messagegroups", "endpoints")


class Place(msgspec.Struct, frozen=True):
    """A message in a catalog: its xid, its owner and what the author wrote."""

    xid: str
    owner_kind: str
    owner_id: str
    owner: Tree
    id: str
    message: Tree


def members(holder: Any, name: str) -> Tree:
    """A collection of a document; one that is absent or of the wrong kind is empty."""
    found = holder.get(name) if isinstance(holder, dict) else None
    return {key: value for key, value in found.items() if isinstance(value, dict)} if isinstance(found, dict) else {}


def member(holder: Any, name: str, key: str) -> Tree | None:
    """One member of a collection, found without a look at the others."""
    found = holder.get(name) if isinstance(holder, dict) else None
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, dict) else None


def message_places(tree: Tree) -> Iterator[Place]:
    """Every message of a catalog, those of message groups and those that endpoints own."""
    for kind in MESSAGE_OWNERS:
        for owner_id, owner in members(tree, kind).items():
            for message_id, message in members(owner, "messages").items():
                xid = f"/{kind}/{owner_id}/messages/{message_id}"
                yield Place(xid, kind, owner_id, owner, message_id, default_version(message))


def find_message(tree: Tree, xid: str) -> Place | None:
    """The message with that xid (a version's xid finds that version)."""
    parts = xid.strip("/").split("/")
    if len(parts) not in (4, 6) or parts[0] not in MESSAGE_OWNERS or parts[2] != "messages":
        return None
    owner = member(tree, parts[0], parts[1])
    message = member(owner, "messages", parts[3])
    if owner is None or message is None:
        return None
    chosen = member(message, "versions", parts[5]) if len(parts) == 6 else default_version(message)
    if chosen is None:
        return None
    return Place("/" + "/".join(parts), parts[0], parts[1], owner, parts[3], chosen)


def default_version(resource: Tree) -> Tree:
    """A resource's default version, with what the resource itself says underneath."""
    versions = members(resource, "versions")
    if not versions:
        return resource
    own = {key: value for key, value in resource.items() if key not in ("versions", "meta")}
    meta = resource.get("meta")
    chosen = meta.get("defaultversionid") if isinstance(meta, dict) else None
    name = (
        chosen
        if isinstance(chosen, str) and chosen in versions
        else max(versions, key=lambda key: _age(key, versions[key]))
    )
    return {**own, "versionid": name, **versions[name]}


def _age(name: str, version: Tree) -> tuple[str, int, str]:
    # Newest by creation; where no times are given, by number, then by spelling.
    return (str(version.get("createdat", "")), int(name) if name.isdecimal() and len(name) < 20 else -1, name)


def local_path(reference: str, tree: Tree) -> str | None:
    """The path inside this catalog that a reference means, or None for one that leads elsewhere."""
    own = tree.get("self")
    if isinstance(own, str) and own and reference.startswith(own):
        reference = "/" + reference[len(own) :].lstrip("/")
    if reference.startswith("#/"):
        reference = reference[1:]
    return unquote(reference) if reference.startswith("/") else None
