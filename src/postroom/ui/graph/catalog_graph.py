"""Which nodes and edges of a catalog are shown: around one of its entities, or all groups with what they unfold to."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from postroom.messages.definitions.catalog_tree import Tree, members
from postroom.messages.definitions.definition import Definition
from postroom.ui.entities.catalog_index import CatalogIndex, named_groups, schema_xid

MOST_NODES = 200
ENDPOINT, GROUP, MESSAGE, SCHEMA, TABLE = range(5)


class GraphNode(msgspec.Struct, frozen=True):
    """A thing of the catalog, or a table of the lake; `size` is how much a folded group holds."""

    id: str
    column: int
    label: str
    size: int | None = None
    folds: bool = False
    """Whether it can be unfolded."""


class CatalogGraph:
    """Nodes in five columns and edges between them, at most so many; `more` counts those that had no place."""

    def __init__(self, tree: Tree, index: CatalogIndex, tables: Iterable[dict[str, Any]] = ()) -> None:
        self.nodes: dict[str, GraphNode] = {}
        self.edges: dict[tuple[str, str], int | None] = {}
        self._left_out: set[str] = set()
        self._tree = tree
        self._index = index
        self._tables: dict[str, list[dict[str, Any]]] = {}
        for table in tables:
            self._tables.setdefault(table["definition"], []).append(table)

    @property
    def more(self) -> int:
        """How many nodes are not shown."""
        return len(self._left_out)

    def around(self, xid: str) -> bool:
        """Add an entity with what leads to it and from it; False where there is no such thing."""
        match xid.strip("/").split("/"):
            case ["endpoints", one] if one in members(self._tree, "endpoints"):
                self._endpoint(xid)
                self._carried_by(xid)
            case ["messagegroups", one] if one in members(self._tree, "messagegroups"):
                self._group(xid)
                self._carriers(xid)
                self._messages(xid)
            case ["messagegroups" | "endpoints" as owners, owner, "messages", one] if one in members(
                members(self._tree, owners).get(owner, {}), "messages"
            ):
                self._message(xid)
                self._owner(xid)
            case ["schemagroups", group, "schemas", one] if one in members(
                members(self._tree, "schemagroups").get(group, {}), "schemas"
            ):
                self._schema(xid)
                self._users(xid)
            case ["schemagroups", one] if one in members(self._tree, "schemagroups"):
                for schema in members(members(self._tree, "schemagroups")[one], "schemas"):
                    self._schema(f"{xid}/schemas/{schema}")
                    self._users(f"{xid}/schemas/{schema}")
            case _:
                return False
        return True

    def everything(self, opened: Collection[str]) -> None:
        """Add all endpoints and groups, and what is in those that are unfolded."""
        for endpoint in members(self._tree, "endpoints"):
            self._endpoint(f"/endpoints/{endpoint}")
        for group in members(self._tree, "messagegroups"):
            self._group(f"/messagegroups/{group}", is_open=f"/messagegroups/{group}" in opened)
            self._carriers(f"/messagegroups/{group}")
        for group in members(self._tree, "schemagroups"):
            self._schema_group(f"/schemagroups/{group}")
        for xid in opened:
            if xid in self.nodes:
                self._messages(xid)
        for group, schema_groups in self._index.schema_groups.items():
            for schema_group in schema_groups if group not in opened else ():
                self._edge(group, schema_group)

    def owners_of(self, words: str) -> list[str]:
        """The groups and endpoints with messages whose id or name contains some words."""
        wanted = words.casefold()
        found = dict.fromkeys(
            "/".join(xid.split("/")[:3])
            for xid, definition in self._index.definitions.items()
            if wanted in definition.id.casefold() or wanted in definition.name.casefold()
        )
        return list(found)

    def _carried_by(self, endpoint: str) -> None:
        self._messages(endpoint)
        given = members(self._tree, "endpoints")[endpoint.rpartition("/")[2]]
        for group in named_groups(given, self._tree):
            if group.rpartition("/")[2] in members(self._tree, "messagegroups"):
                self._group(group)
                self._edge(endpoint, group)
                self._messages(group)

    def _carriers(self, group: str) -> None:
        for endpoint in self._index.endpoints_by_group.get(group, ()):
            self._endpoint(endpoint)
            self._edge(endpoint, group)

    def _owner(self, message: str) -> None:
        owner = "/".join(message.split("/")[:3])
        if owner.startswith("/endpoints/"):
            self._endpoint(owner)
        else:
            self._group(owner)
            self._carriers(owner)
        self._edge(owner, message)

    def _messages(self, owner: str) -> None:
        _, collection, one = owner.split("/")
        for message in members(members(self._tree, collection)[one], "messages"):
            xid = f"{owner}/messages/{message}"
            self._message(xid)
            self._edge(owner, xid)

    def _message(self, xid: str) -> None:
        definition: Definition | None = self._index.definitions.get(xid)
        entity = self._entity(xid)
        self._add(GraphNode(xid, MESSAGE, _name(entity, xid)))
        if definition is not None and (schema := schema_xid(definition)):
            self._schema(schema)
            self._edge(xid, schema)
        for table in self._tables.get(xid, ()):
            self._add(GraphNode(table["folder"], TABLE, table["folder"].rpartition("/")[2]))
            self._edge(xid, table["folder"], table["rows"])

    def _users(self, schema: str) -> None:
        for definition in self._index.users_by_schema.get(schema, ()):
            self._message(definition.xid)
            self._owner(definition.xid)

    def _endpoint(self, xid: str) -> None:
        self._add(GraphNode(xid, ENDPOINT, _name(self._entity(xid), xid)))

    def _group(self, xid: str, *, is_open: bool = True) -> None:
        group = self._entity(xid)
        size = len(members(group, "messages"))
        self._add(GraphNode(xid, GROUP, _name(group, xid), size, folds=not is_open and size > 0))

    def _schema(self, xid: str) -> None:
        self._add(GraphNode(xid, SCHEMA, _name(self._entity(xid), xid)))

    def _schema_group(self, xid: str) -> None:
        group = self._entity(xid)
        self._add(GraphNode(xid, SCHEMA, _name(group, xid), len(members(group, "schemas"))))

    def _entity(self, xid: str) -> Tree:
        found: Any = self._tree
        for step in xid.strip("/").split("/"):
            found = found.get(step, {}) if isinstance(found, dict) else {}
        return found if isinstance(found, dict) else {}

    def _add(self, node: GraphNode) -> None:
        if node.id in self.nodes:
            return
        if len(self.nodes) < MOST_NODES:
            self.nodes[node.id] = node
        else:
            self._left_out.add(node.id)

    def _edge(self, start: str, end: str, count: int | None = None) -> None:
        if start in self.nodes and end in self.nodes:
            self.edges[start, end] = count


def _name(entity: Tree, xid: str) -> str:
    name = entity.get("name")
    return name if isinstance(name, str) and name else xid.rpartition("/")[2]
