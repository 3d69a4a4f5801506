"""Differences of two JSON Schemas: the pointers that a payload sets against each other, and how far schemas expand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import msgspec

from postroom.formats.jsonschema.compat.compare_context import CompareContext
from postroom.formats.jsonschema.compat.merged_assertions import Nodes, elements, members
from postroom.formats.jsonschema.compat.normal_form import Node, NormalForm, SchemaTooLarge
from postroom.formats.jsonschema.keywords import UNEVALUATED
from postroom.formats.jsonschema.unreadable_payloads import inside
from postroom.formats.regex_cost import states

_MOST_UNFOLDED = 2000
_BRANCHES = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")
_PLAIN_WORK = 20_000
_MANY = 10**9
_MOST_WAYS = 100_000
_MOST_STATES = 1_000


def conflicting_pointers(written: NormalForm, read: NormalForm, value: Any) -> tuple[str, str]:
    """The pointers in the writer's and the reader's document that a payload sets against each other."""
    context = CompareContext(read.defs, _PLAIN_WORK)
    # The validator's errors of alternatives hold all errors of each, and those of their alternatives.
    if _widest(read) ** _depth(value) > _MOST_WAYS:
        return "", ""
    errors = context.errors(read.root, value)
    if not errors:
        return "", ""
    error = errors[0]
    node, keyword = _failing(read, error.schema_path)
    near, is_exact = _governing(context, (written.root,), error.instance_path)
    spoken = [written.pointer_of(context.original(part), keyword) for part in near if is_exact and keyword in part]
    around = [written.pointer_of(context.original(part)) for part in near]
    return next(filter(None, (*spoken, *around)), ""), read.pointer_of(node, keyword)


def _widest(form: NormalForm) -> int:
    alternatives = (node.get(keyword, ()) for node in all_nodes(form) for keyword in ("anyOf", "oneOf"))
    return max(map(len, alternatives), default=1) or 1


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level := inside(level):
        depth += 1
    return depth


def _failing(read: NormalForm, path: list[Any]) -> tuple[Node, str]:
    """The innermost subschema on a path of the normal form, and the keyword that failed in it."""
    here: Any = {"allOf": [read.root], "$defs": read.defs}
    node, keyword = read.root, ""
    for step in path:
        keyword = keyword or str(step)
        here = here[step] if isinstance(here, list) or step in here else {}
        if isinstance(here, dict) and id(here) in read.subschemas:
            node, keyword = here, ""
    return node, keyword


def _governing(context: CompareContext, nodes: Nodes, path: list[Any]) -> tuple[Nodes, bool]:
    """The writer's subschemas that apply at a path of the payload (True), or at the nearest path above it (False)."""
    nodes = context.flat(nodes)
    for step in path:
        below = context.flat(members(nodes, step) if isinstance(step, str) else elements(nodes, step))
        if not below:
            return nodes, False
        nodes = below
    return nodes, True


class Expansion(msgspec.Struct):
    """How far a schema unfolds for one value: its parts, and its alternatives multiplied."""

    parts: int = 1
    cases: int = 1


def measure_expansion(form: NormalForm) -> Expansion:
    """The most of both anywhere in a schema; TooLarge where judging a value could take for ever."""
    known: dict[int, Expansion] = {}
    busy: set[int] = set()
    most = Expansion()
    pending: list[tuple[Node, bool]] = [(node, False) for node in all_nodes(form)]
    while pending:
        node, is_done = pending.pop()
        if is_done:
            busy.discard(id(node))
            known[id(node)] = found = _measured(form, node, known)
            most = Expansion(max(most.parts, found.parts), max(most.cases, found.cases))
            if found.parts > _MOST_UNFOLDED:
                raise SchemaTooLarge("its references multiply")
        elif id(node) in busy:
            raise SchemaTooLarge("a reference leads back to itself")
        elif id(node) not in known:
            busy.add(id(node))
            pending.append((node, True))
            pending += [(part, False) for part in _in_place(form, node) if id(part) not in known]
    return most


def all_nodes(form: NormalForm) -> list[Node]:
    """All subschemas of a document, in normal form."""
    found: dict[int, Node] = {}
    pending: list[Any] = [form.root, *form.defs.values()]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            found[id(part)] = part
            pending += [inner for keyword, inner in part.items() if keyword != "enum"]
    return [node for node in found.values() if id(node) in form.subschemas]


def _measured(form: NormalForm, node: Node, known: dict[int, Expansion]) -> Expansion:
    def cases(parts: Iterable[Node]) -> list[int]:
        return [known.get(id(part), Expansion()).cases for part in parts]

    if any(states(pattern) > _MOST_STATES for pattern in _patterns(node)):
        raise SchemaTooLarge("a pattern repeats too much, counted out")
    inner = sum(known.get(id(part), Expansion()).parts for part in _in_place(form, node))
    # What is unevaluated is found out by judging the neighbours again, and by what they found unevaluated.
    found = Expansion(1 + inner if node.keys().isdisjoint(UNEVALUATED) else 1 + 3 * inner)
    found.cases = math.prod(cases([*_targets(form, node), *node.get("allOf", ())]))
    for keyword in ("anyOf", "oneOf"):
        found.cases *= sum(cases(node.get(keyword, ()))) or 1
    for keyword in _IN_PLACE:
        if keyword in node:
            found.cases *= 1 + known.get(id(node[keyword]), Expansion()).parts
    found.cases *= math.prod(1 + count for count in cases(node.get("dependentSchemas", {}).values()))
    found.cases = min(found.cases, _MANY)
    return found


def _patterns(node: Node) -> list[str]:
    return [*node.get("patternProperties", ()), *([node["pattern"]] if "pattern" in node else [])]


def _targets(form: NormalForm, node: Node) -> list[Node]:
    return [form.defs[node["$ref"].rpartition("/")[2]]] if "$ref" in node else []


def _in_place(form: NormalForm, node: Node) -> list[Node]:
    found = _targets(form, node)
    found += [part for keyword in _BRANCHES for part in node.get(keyword, ())]
    found += [node[keyword] for keyword in _IN_PLACE if keyword in node]
    return found + list(node.get("dependentSchemas", {}).values())
