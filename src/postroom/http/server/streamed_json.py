"""Answers that may be large, written piece by piece: what is read of the store is encoded and forgotten at once.

The text is the one that `render` and the encoder would give, without a tree of everything in between: that takes
memory, and building and dropping it takes the interpreter away from everybody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from postroom.http.server.response_encoding import encode_json
from postroom.registry.paths import EntityPath, resolve
from postroom.registry.query.inline import NOTHING
from postroom.registry.read.render import View, render, render_collection
from postroom.registry.read.tree import GroupTree, RegistryTree, read_collection, read_entity, stored_collection
from postroom.registry.transaction_interface import Transaction

AT_ONCE = 50
"""How many Resources are read, rendered and encoded together."""


def written(tx: Transaction, path: EntityPath, view: View) -> Iterator[bytes]:
    """The JSON of the Registry, a Group or a collection of Groups or Resources, all of it, in the order of ids.

    MustFetch when a document has to be had from elsewhere.
    """
    return _collection(tx, path, view) if path.is_collection else _entity(tx, path, view)


def _entity(tx: Transaction, path: EntityPath, view: View) -> Iterator[bytes]:
    tree = read_entity(tx, path, NOTHING)
    assert isinstance(tree, RegistryTree | GroupTree)  # noqa: S101 - the kinds of path that come here
    shown = [plural for plural in tree.counts if view.inline.shows(plural)]
    document = render(msgspec.structs.replace(tree, collections={plural: {} for plural in shown}), view)
    for plural in shown:
        if plural + "count" in document:
            document[plural + "count"] = tree.counts[plural]
    members = (_member(tx, path, view, name, value, name in shown) for name, value in document.items())
    return _object(members)


def _member(
    tx: Transaction, path: EntityPath, view: View, name: str, value: Any, is_collection: bool
) -> Iterator[bytes]:
    yield encode_json(name) + b":"
    if not is_collection:
        yield encode_json(value)
        return
    below = msgspec.structs.replace(view, inline=view.inline.below(name) or NOTHING)
    yield from _collection(tx, resolve(tx.model(), f"{path.xid.rstrip('/')}/{name}"), below)


def _collection(tx: Transaction, path: EntityPath, view: View) -> Iterator[bytes]:
    ids = _ids(tx, stored_collection(tx, path))
    if path.kind == "groups":
        return _object(_group(tx, f"{path.xid}/{one}", view) for some in ids for one in some)
    return _object(_resources(tx, path, view, some) for some in ids)


def _group(tx: Transaction, xid: str, view: View) -> Iterator[bytes]:
    yield encode_json(xid.rpartition("/")[2]) + b":"
    yield from _entity(tx, resolve(tx.model(), xid), view)


def _resources(tx: Transaction, path: EntityPath, view: View, ids: list[str]) -> Iterator[bytes]:
    """Some members of an object: what stands between its braces."""
    yield encode_json(render_collection(read_collection(tx, path, view.inline, ids), view))[1:-1]


def _ids(tx: Transaction, collection: str) -> Iterator[list[str]]:
    after = ""
    while some := tx.ids(collection, after, AT_ONCE):
        yield some
        after = some[-1]


def _object(members: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    yield b"{"
    for number, pieces in enumerate(members):
        if number:
            yield b","
        yield from pieces
    yield b"}"
