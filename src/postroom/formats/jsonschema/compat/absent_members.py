"""The members that a reader's schema declares and the writer's does not: they count as absent.

Authors leave objects open so that they can grow, and a payload hardly ever has a member before its schema mentions it.
So adding an optional member breaks nobody, unless the strict reading is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from postroom.formats.jsonschema.compat.merged_assertions import ANYTHING, Nodes, accepts_nothing, matches
from postroom.formats.jsonschema.compat.normal_form import Node
from postroom.formats.work_budget import spend

_MOST_LOCATIONS = 1000
_DEFS = "#/$defs/"
_TOGETHER = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")
_OTHERS = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEMS = ("items", "contains", "unevaluatedItems")
_ABSENT: Node = {"not": {}}


class AbsentMembers:
    """Makes a schema that refuses such members, at every location of a payload, and nothing else."""

    def __init__(self, defs: dict[str, Node]) -> None:
        self._defs = defs
        self._names: dict[tuple[frozenset[int], frozenset[int]], str] = {}

    def schema(self, writer: Node, reader: Node) -> Node:
        """The schema for payloads of a writer that a reader gets."""
        return self._at((writer,), (reader,))

    def _at(self, writer: Iterable[Node], reader: Iterable[Node]) -> Node:
        written, read = self._together(writer), self._together(reader)
        key = frozenset(map(id, written)), frozenset(map(id, read))
        # A writer that says nothing about a location means any value; one that lists values means those.
        if not all(key) or any("enum" in node or "opaque" in node for node in written):
            return ANYTHING
        if key not in self._names:
            if len(self._names) >= _MOST_LOCATIONS:
                return ANYTHING
            self._names[key] = f"absent{len(self._names)}"
            made = self._defs[self._names[key]] = {}
            made.update({**self._members(written, read), **self._items(written, read)})
        return {"$ref": _DEFS + self._names[key]}

    def _together(self, nodes: Iterable[Node]) -> Nodes:
        """All subschemas that may have a say about a location, whatever their conditions are."""
        found: dict[int, Node] = {}
        pending = list(nodes)
        while pending:
            node = pending.pop()
            if not node or id(node) in found:
                continue
            spend()
            found[id(node)] = node
            if "$ref" in node:
                pending.append(self._defs[node["$ref"][len(_DEFS) :]])
            for keyword in _TOGETHER:
                pending += node.get(keyword, ())
            pending += [node[keyword] for keyword in _IN_PLACE if keyword in node]
            pending += node.get("dependentSchemas", {}).values()
        return tuple(found.values())

    def _members(self, written: Nodes, read: Nodes) -> Node:
        declared, wanted = _names(written), _names(read)
        patterns = {pattern for node in written for pattern in node.get("patternProperties", ())}
        is_map = any(
            node.get(keyword) and not accepts_nothing(node[keyword]) for node in written for keyword in _OTHERS
        )
        made: dict[str, Node] = {}
        for name in sorted(declared | wanted):
            if name in declared or is_map or any(matches(pattern, name) for pattern in patterns):
                made[name] = self._at(_parts(written, name), _parts(read, name))
            else:
                made[name] = _ABSENT
        return {"properties": made} if made else {}

    def _items(self, written: Nodes, read: Nodes) -> Node:
        sides = (written, read)
        rest = [[node[word] for node in nodes for word in _ITEMS if word in node] for nodes in sides]
        first = [max((len(node.get("prefixItems", ())) for node in nodes), default=0) for nodes in sides]
        made: Node = {"items": self._at(*rest)}
        if max(first):
            made["prefixItems"] = [
                self._at(*([*_at_index(nodes, index), *others] for nodes, others in zip(sides, rest, strict=True)))
                for index in range(max(first))
            ]
        return made


def _names(nodes: Nodes) -> set[str]:
    """All names of members that the subschemas mention."""
    found: set[str] = set()
    for node in nodes:
        found.update(node.get("properties", ()), node.get("required", ()), node.get("dependentSchemas", ()))
        for name, others in node.get("dependentRequired", {}).items():
            found.update((name, *others))
    return found


def _parts(nodes: Nodes, name: str) -> Iterator[Node]:
    """The subschemas that may apply to the member of a name."""
    for node in nodes:
        if name in node.get("properties", ()):
            yield node["properties"][name]
        yield from (part for pattern, part in node.get("patternProperties", {}).items() if matches(pattern, name))
        yield from (node[keyword] for keyword in _OTHERS[:2] if keyword in node)


def _at_index(nodes: Nodes, index: int) -> Iterator[Node]:
    return (node["prefixItems"][index] for node in nodes if index < len(node.get("prefixItems", ())))
