"""What refers to what in a catalog: which endpoints carry a group, what derives from a message, what uses a schema."""

from __future__ import annotations

import functools
import weakref
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from postroom.catalog.catalog import Catalog
from postroom.messages.definitions.catalog_tree import Tree, local_path, members
from postroom.messages.definitions.definition import Definition


class CatalogIndex:
    """References of one state of a catalog, turned around."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = weakref.ref(catalog)
        self.definitions = {one.xid: one for one in catalog.definitions}
        self.refused = {one.place.partition("#")[0]: one for one in catalog.refused}
        self._tree = catalog.tree

    @functools.cached_property
    def endpoints_by_group(self) -> dict[str, list[str]]:
        """The xids of the endpoints that name a group."""
        found = defaultdict(list)
        for endpoint_id, endpoint in members(self._tree, "endpoints").items():
            for group in named_groups(endpoint, self._tree):
                found[group].append(f"/endpoints/{endpoint_id}")
        return found

    @functools.cached_property
    def derived(self) -> dict[str, list[Definition]]:
        """The definitions that have a message as one of their bases."""
        found = defaultdict(list)
        for definition in self.definitions.values():
            for base in definition.bases:
                found[base].append(definition)
        return found

    @functools.cached_property
    def users_by_schema(self) -> dict[str, list[Definition]]:
        """The definitions whose payloads follow a schema, by its xid."""
        found = defaultdict(list)
        for definition in self.definitions.values():
            if xid := schema_xid(definition):
                found[xid].append(definition)
        return found

    @functools.cached_property
    def schema_groups(self) -> dict[str, list[str]]:
        """The schema groups that the messages of a group or an endpoint refer to."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for definition in self.definitions.values():
            if xid := schema_xid(definition):
                found["/".join(definition.xid.split("/")[:3])]["/".join(xid.split("/")[:3])] = None
        return {owner: list(groups) for owner, groups in found.items()}

    def carriers(self, definition_xid: str) -> list[tuple[str, Tree]]:
        """The endpoints that carry a message: the one that owns it, and those that name its group."""
        group = "/".join(definition_xid.split("/")[:3])
        xids = [group] if group.startswith("/endpoints/") else self.endpoints_by_group.get(group, [])
        endpoints = members(self._tree, "endpoints")
        return [(xid, endpoints[xid.rpartition("/")[2]]) for xid in xids if xid.rpartition("/")[2] in endpoints]


_INDEXES: weakref.WeakKeyDictionary[Catalog, CatalogIndex] = weakref.WeakKeyDictionary()


def index_of(catalog: Catalog) -> CatalogIndex:
    """The index of a catalog, made when it is first asked for and kept as long as the catalog."""
    found = _INDEXES.get(catalog)
    if found is None:
        found = _INDEXES[catalog] = CatalogIndex(catalog)
    return found


def named_groups(endpoint: Tree, tree: Tree) -> list[str]:
    """The xids of the groups that an endpoint names, in its order."""
    named = endpoint.get("messagegroups")
    references = named if isinstance(named, list) else []
    paths = (local_path(reference, tree) for reference in references if isinstance(reference, str))
    return [path.rstrip("/") for path in paths if path]


def schema_xid(definition: Definition) -> str:
    """The schema of the catalog that payloads of a definition follow; empty for none, or one that is elsewhere."""
    source = definition.schema
    place = source.place if source is not None else ""
    return place.partition("/versions/")[0] if place.startswith("/") else ""


def addresses(endpoint: Tree) -> Iterator[str]:
    """Where an endpoint is, as its author wrote it."""
    options = endpoint.get("protocoloptions")
    listed: Any = options.get("endpoints") if isinstance(options, dict) else None
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict):
            servers = one.get("bootstrap.servers", one.get("uri"))
            yield ", ".join(map(str, servers)) if isinstance(servers, list) else str(servers or "")
        elif isinstance(one, str):
            yield one
