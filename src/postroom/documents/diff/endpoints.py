"""Endpoints: who may do what there, where it is, and which messages travel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects.references import as_xid
from postroom.documents.diff.change import BOTH, NOTHING, Change, Kind, what
from postroom.messages.definitions.catalog_tree import Tree
from postroom.model.json_pointers import pointer

LISTS = {"usage": "usage", "messagegroups": "message group"}
_OPTIONS: dict[str, tuple[Kind, str]] = {
    "authorization": (BOTH, "clients have to authorize in another way."),
    "deployed": ("compatible", "the endpoint is there now."),
}


def endpoint_changes(place: str, old: Tree, new: Tree) -> Iterator[Change]:
    """Changes of what only endpoints have."""
    for name, noun in LISTS.items():
        yield from _list_changes(f"{place}/{name}", noun, old.get(name), new.get(name))
    before, after = (one.get("protocoloptions") for one in (old, new))
    yield from _option_changes(f"{place}/protocoloptions", _object(before), _object(after))


def _object(value: Any) -> Tree:
    return value if isinstance(value, dict) else {}


def _list_changes(place: str, noun: str, old: Any, new: Any) -> Iterator[Change]:
    before, after = (_items(None if one is NOTHING else one) for one in (old, new))
    for item in before:
        if item not in after:
            yield Change(place, "removed", BOTH, f"the {noun} {item} is not there any more.")
    for item in after:
        if item not in before:
            yield Change(place, "added", "compatible", f"the {noun} {item} is new.")


def _items(value: Any) -> list[Any]:
    listed = value if isinstance(value, list) else [] if value is None else [value]
    return [as_xid(_address(item)) for item in listed]


def _address(item: Any) -> Any:
    """An address as people write it, whatever object it is in (C-35)."""
    servers = item.get("bootstrap.servers", item.get("uri", item)) if isinstance(item, dict) else item
    return ", ".join(map(str, servers)) if isinstance(servers, list) else servers


def _option_changes(place: str, old: Tree, new: Tree) -> Iterator[Change]:
    for name in {**old, **new}:
        absent = True if name == "deployed" else NOTHING  # 1.0-rc4: an endpoint is there unless it says otherwise
        before, after = old.get(name, absent), new.get(name, absent)
        if before == after:
            continue
        if name == "endpoints":
            yield from _list_changes(f"{place}/{name}", "address", before, after)
            continue
        kind, reason = _OPTIONS.get(name, (BOTH, f"clients have to use another {name}."))
        if name == "deployed" and after is False:
            kind, reason = BOTH, "the endpoint is not there any more."
        yield Change(place + pointer((name,)), what(before, after), kind, reason)
