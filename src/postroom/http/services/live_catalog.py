"""The registry as a catalog that records are matched with: compiled once, then kept up to date by the change log."""

from __future__ import annotations

import gc
import math
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import msgspec

from postroom.catalog.catalog import Catalog
from postroom.deadlines import deadline
from postroom.messages.definitions.catalog_tree import Tree
from postroom.messages.definitions.compiled_catalog import Compilation, compilation
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.messages.engine import Engine
from postroom.messages.gc_pause import no_garbage_collection
from postroom.registry.entities import Change
from postroom.registry.operations import export_document, export_entity
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings
from postroom.store.interface import Store

T = TypeVar("T")

MOST_CHANGES = 2_000
"""After more changes than this it is quicker to begin anew."""
MOST_ENGINES = 8
"""Each has a plan for every message of its catalog, and a registry may have any number of endpoints."""
OWN = ("envelope", "protocol")
"""What messages take from their Groups."""


class State(NamedTuple):
    """The catalog as of a change."""

    last: Change | None
    compiled: CompiledCatalog
    whole: Compilation | None
    """How to go on from here; None where schemas from elsewhere are part of it, which no log tells about."""
    tree: Tree


class Catalogs:
    """The catalogs of one store: of all its messages or of an endpoint's, for either meaning of nulls.

    With `base`, references to schemas that begin with this URL lead into the store.
    """

    def __init__(self, store: Store, settings: Settings, base: str = "") -> None:
        self._store = store
        self._settings = settings
        self._base = base
        self.registries: frozenset[str] = frozenset()
        """The base URLs of the registries whose schemas were referred to by URL at the last `get`."""
        self._lock = threading.Lock()
        self._version: int | None = None
        self._state: State | None = None
        self._catalogs: OrderedDict[tuple[str, str], Catalog] = OrderedDict()
        self._engines: OrderedDict[tuple[str, str], Engine] = OrderedDict()

    def get(self, nulls: str, endpoint: str = "") -> Catalog:
        """The catalog in the present state; DocumentRefused when there is no such endpoint.

        Whoever comes while it is being compiled waits for it instead of compiling it too.
        """
        with self._lock, deadline(math.inf), no_garbage_collection():
            was_empty = not self._engines
            state = self._present()
            catalog = self._catalogs.pop((nulls, endpoint), None) or self._made(state, nulls, endpoint)
            _keep(self._catalogs, (nulls, endpoint), catalog)
            if was_empty:
                gc.freeze()  # it stays: the collector need not look at it again and again
            return catalog

    def _present(self) -> State:
        version = self._store.version()
        if self._state is None or version != self._version:
            before, self._state, self._version = self._state, self._read(self._state), version
            if before is None or self._state.compiled is not before.compiled:
                self._catalogs.clear()
                self.registries = _registries(self._state.compiled)
        return self._state

    def _read(self, state: State | None) -> State:
        with self._store.read() as tx:
            last = tx.last_change()
            changed = _changed(tx, state)
            if state is not None and changed == set():
                return state._replace(last=last)
            if state is not None and state.whole is not None and changed is not None:
                tree = updated_tree(tx, state.tree, changed)
                return _state(state.whole.updated(tree, _affected(state.tree, tree, changed)), last, state.compiled)
            tree = export_document(tx)
        if self._base:
            tree = {**tree, "self": f"{self._base}/"}
        return self._compiled(tree, last)

    def _compiled(self, tree: Tree, last: Change | None) -> State:
        self._engines.clear()
        if self._settings.allow_fetch:
            return State(last, Catalog(tree, settings=self._settings).compiled, None, tree)
        return _state(compilation(tree), last, None)

    def _made(self, state: State, nulls: str, endpoint: str) -> Catalog:
        settings = msgspec.structs.replace(self._settings, nulls=nulls)
        compiled = msgspec.structs.replace(
            state.compiled, assert_formats=settings.assert_formats, schema_id_bytes=settings.schema_id_bytes
        )
        catalog = Catalog(state.tree, settings=settings, compiled=compiled)
        if state.whole is not None:
            catalog.refused = state.whole.refused
        if endpoint:
            catalog = catalog.for_endpoint(endpoint)
        like = self._engines.pop((nulls, endpoint), None) or self._engines.get((nulls, ""))
        catalog.engine = catalog.engine_like(like, self._settings.max_records)
        _keep(self._engines, (nulls, endpoint), catalog.engine)
        return catalog


def _registries(compiled: CompiledCatalog) -> frozenset[str]:
    references = (one.schema.reference for one in compiled.definitions if one.schema is not None)
    return frozenset(
        base for base, inside, _ in (one.partition("/schemagroups/") for one in references) if inside and base
    )


def _keep(kept: OrderedDict[tuple[str, str], T], key: tuple[str, str], value: T) -> None:
    """Keep something as what was asked for last, in place of what nobody asked for longest."""
    kept[key] = value
    if len(kept) > MOST_ENGINES:
        del kept[next((nulls, endpoint) for nulls, endpoint in kept if endpoint)]  # others are made like that of all


def _state(whole: Compilation, last: Change | None, before: CompiledCatalog | None) -> State:
    return State(last, whole.catalog(before), whole, whole.tree)


def _changed(tx: Transaction, state: State | None) -> set[str] | None:
    """The Groups and Resources that changed since a state; None when only reading everything tells."""
    if state is None or state.last is None:
        return None
    rows = tx.changes(state.last.sequence, MOST_CHANGES + 1)
    if tx.change(state.last.sequence) != state.last or len(rows) > MOST_CHANGES:
        return None
    found = {_owner(row.xid) for row in rows}
    found.discard("/")
    return None if any(xid.count("/") == 1 for xid in found) else found  # the model is no entity


def _owner(xid: str) -> str:
    """The Resource that a Version belongs to."""
    return "/".join(xid.split("/")[:5]) if xid != "/" else xid


def updated_tree(tx: Transaction, tree: Tree, changed: Iterable[str]) -> Tree:
    """A document as `export_document` gives it now, where nothing but these Groups and Resources changed."""
    made, copied = dict(tree), set()
    for xid in sorted(changed):  # a Group before its Resources
        _, plural, group_id, *rest = xid.split("/")
        if plural not in copied:
            made[plural] = dict(made.get(plural, {}))
            copied.add(plural)
        groups = made[plural]
        if not rest:
            _put(groups, group_id, _group(tx, xid, groups.get(group_id)))
        elif group_id in groups:
            home = f"/{plural}/{group_id}/{rest[0]}"
            if home not in copied:
                groups[group_id] = {**groups[group_id], rest[0]: dict(groups[group_id].get(rest[0], {}))}
                copied.add(home)
            _put(groups[group_id][rest[0]], rest[1], export_entity(tx, xid))
    return made


def _group(tx: Transaction, xid: str, before: Tree | None) -> Tree | None:
    alone = export_entity(tx, xid)
    if alone is None:
        return None
    for plural in tx.model().groups[xid.split("/")[1]].resources:
        members = (before or {}).get(plural, {})
        present = set(tx.ids(f"{xid}/{plural}", "", 2**62)) if members else ()
        alone[plural] = {one: member for one, member in members.items() if one in present}
    return alone


def _put(members: dict[str, Any], name: str, value: Tree | None) -> None:
    if value is None:
        members.pop(name, None)
    else:
        members[name] = value


def _affected(before: Tree, now: Tree, changed: Iterable[str]) -> set[str]:
    """What of the changes means something to definitions: Groups that only count their changes do not, and Resources
    come and go with their Groups.
    """
    found = set()
    for xid in changed:
        if xid.count("/") != 2:
            found.add(xid)
            continue
        _, plural, group_id = xid.split("/")
        groups = [tree.get(plural, {}).get(group_id, {}) for tree in (before, now)]
        if _own(groups[0]) != _own(groups[1]):
            found.add(xid)
        for name in ("messages", "schemas"):
            ids = [group.get(name, {}).keys() for group in groups]
            found |= {f"{xid}/{name}/{one}" for one in ids[0] ^ ids[1]}
    return found


def _own(group: Tree) -> Tree:
    return {name: group.get(name) for name in OWN}
