"""What became of an entity: its states, and the difference between two of them by what it means."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.catalog.catalog import Catalog
from postroom.documents.diff.change import CatalogChange
from postroom.documents.diff.compare import differences
from postroom.errors import PostroomError
from postroom.http.server.response import Response
from postroom.messages.definitions.catalog_tree import Tree, local_path, member
from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath, resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.resource_history import NumberedState, load_state, read_states
from postroom.ui.entities.examples import make_example
from postroom.ui.page import PageRequest

MOST_STATES = 50
MOST_EXCERPT = 500
"""How many entities are put beside the one whose states are compared, because they refer to each other."""
MOST_TRIED = 5
KINDS = {"editorial": "", "compatible": "good"}


class ExcerptTree:
    """The part of a catalog that an entity needs: itself and what it refers to, step by step."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.made: Tree = {}
        self._seen: set[str] = set()

    def add(self, xid: str, instead: Tree | None = None) -> None:
        """Add an entity, another body of it if there is one, and what it refers to."""
        pending = [(xid, instead)]
        while pending and len(self._seen) < MOST_EXCERPT:
            path, body = pending.pop()
            steps = path.strip("/").split("/")[:4]
            owner = "/".join(steps)
            if owner in self._seen or len(steps) < 2:
                continue
            self._seen.add(owner)
            found = self._put(steps, body)
            pending += [(one, None) for text in _texts(found) if (one := local_path(text, self._tree))]

    def _put(self, steps: list[str], body: Tree | None) -> Any:
        group = member(self._tree, steps[0], steps[1]) or {}
        groups = self.made.setdefault(steps[0], {})
        own = {name: value for name, value in group.items() if name not in ("messages", "schemas")}
        kept = groups.setdefault(steps[1], own)
        if len(steps) < 4:
            return own
        found = body if body is not None else member(group, steps[2], steps[3])
        if found is not None:
            kept.setdefault(steps[2], {})[steps[3]] = found
        return found


def _texts(value: Any, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value] if value.startswith(("/", "#/")) and len(value) < 500 else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in _texts(one, depth + 1)] if depth < 40 else []


def answer_history(page: PageRequest) -> Response:
    """The states of the Resource that `xid` names, and what changed from one to another."""
    with page.reading():
        path = _resource_path(page)
        states = read_states(page.tx, path.xid)
        if not states:
            raise RegistryProblem("not_found", path.xid)
        newest = states[-1].number
        to = _state(states, page.number("to", newest, newest))
        since = _state(states, page.number("from", max(1, to.number - 1), newest))
        loaded = [load_state(page.tx, one) for one in (since, to)]
        changes = {one.number: one for one in states}
        old, new = (_body(one, path) for one in loaded)
        log = {change.sequence: change for change in page.tx.changes(max(0, states[0].until - 1), 5000, path.xid)}
    found, proof = ([], None) if since.number == to.number else _compared(page, path, old, new)
    return page.render(
        "history.html",
        xid=path.xid,
        states=[
            {
                "number": one.number,
                "version": one.version.id,
                "time": one.version.modifiedat,
                "actor": log[states[index - 1].until].actor if index and states[index - 1].until in log else "",
            }
            for index, one in enumerate(states)
        ][::-1][:MOST_STATES],
        count=len(changes),
        since=since.number,
        to=to.number,
        changes=found,
        kinds=KINDS,
        proof=proof,
        json_url=page.links.api("/-/changes", xid=path.xid) + "&values",
    )


def _resource_path(page: PageRequest) -> EntityPath:
    path = resolve(page.tx.model(), page.query.get("xid", "/"))
    if path.kind != "resource":
        raise RegistryProblem("not_found", path.xid)
    return path


def _state(states: list[NumberedState], number: int) -> NumberedState:
    return states[min(max(number, 1), len(states)) - 1]


def _body(state: NumberedState, path: EntityPath) -> Tree:
    """A state as a catalog document has a Resource."""
    version: Entity = state.version
    body = {**version.attributes, path.resource.singular + "id": path.ids[3], "versionid": version.id}
    if version.document is not None:
        content = version.document.content
        name = path.resource.singular
        try:
            body[name] = content.decode() if version.document.text else msgspec.json.decode(content)
        except (UnicodeDecodeError, msgspec.DecodeError):
            body[name] = content.decode("utf-8", "replace")
        if version.document.url:
            body[f"{name}url"] = version.document.url
    return body


def _compared(page: PageRequest, path: EntityPath, old: Tree, new: Tree) -> tuple[list[CatalogChange], Any]:
    # The same Version id on both sides: the states of one Resource are compared, not lists of Versions.
    old = {**old, "versionid": new["versionid"]}
    trees = []
    for body in (old, new):
        excerpt = ExcerptTree(page.catalog.tree)
        excerpt.add(path.xid, body)
        trees.append(excerpt.made)
    found = [
        msgspec.structs.replace(one, place=one.place.removeprefix(path.xid) or "/")
        for one in differences(trees[0], trees[1], page.settings.strict_compatibility)
        if one.place.startswith(path.xid)
    ]
    is_message = path.ids[2] == "messages"
    breaks = any(one.breaks for one in found)
    return found, _counterexample(path.xid, trees[0], trees[1]) if is_message and breaks else None


def _counterexample(xid: str, old: Tree, new: Tree) -> dict[str, Any] | None:
    """A message of one state that the other refuses: of the old one for producers, of the new one for consumers."""
    for kind, writer, reader in (("producers", old, new), ("consumers", new, old)):
        try:
            maker = Catalog(writer).message(xid).maker
            judge = Catalog(reader)
            for seed in range(MOST_TRIED):
                protocol = maker.definition.protocol or "HTTP"
                record, _ = make_example(maker, {}, protocol, "", seed)
                match = judge.match(record)
                if match.outcome != "landed":
                    return {"kind": kind, "record": record, "explanation": judge.explain(match)}
        except PostroomError:
            continue
    return None
