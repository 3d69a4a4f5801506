"""Importing another schema registry: subjects, versions, ids, references, modes and configurations as they are.

The target is asked what it has, so that a second import writes what is different and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from postroom.catalog.subjects.schema_registry import Held, SchemaRegistry, by_version, read_registry
from postroom.errors import DocumentRefused
from postroom.http.confluent.call import Tree
from postroom.http.confluent.mount import answer_confluent
from postroom.http.server.request import Request, parse_query
from postroom.settings import Settings
from postroom.store.interface import Store


class LocalRegistry:
    """The registry in a store, asked without a service."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Answer a request."""
        path, _, query = path.partition("?")
        content = b"" if body is None else msgspec.json.encode(body)
        request = Request(method=method, path=path, base="http://localhost", query=parse_query(query), body=content)
        answer = answer_confluent(request, self._store, self._settings)
        return answer.status, answer.json


class ImportReport(msgspec.Struct):
    """What an import did, and what had no place."""

    created: int = 0
    unchanged: int = 0
    deleted: int = 0
    configs: int = 0
    modes: int = 0
    left_out: list[Tree] = []

    @property
    def changes(self) -> int:
        """How much was written."""
        return self.created + self.deleted + self.configs + self.modes


def read_export(path: Path) -> Held:
    """What a file holds: what `GET /schemas` answers, an object with that and `configs`, or the lines of the topic."""
    text = path.read_text(encoding="utf-8")
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return _read_topic(text.splitlines(), path)
    whole = found if isinstance(found, dict) else {"schemas": found}
    if isinstance(whole.get("schemas"), list):
        versions = by_version(whole["schemas"])
        deleted = frozenset((one["subject"], one["version"]) for one in whole["schemas"] if one.get("deleted"))
        return Held(versions, deleted, whole.get("configs") or {}, whole.get("modes") or {})
    raise DocumentRefused("this is no export of a schema registry.", place=str(path))


def _read_topic(lines: Iterable[str], path: Path) -> Held:
    """The topic `_schemas`, printed with its keys: the last line about a key counts."""
    versions: dict[tuple[str, int], Tree] = {}
    deleted: set[tuple[str, int]] = set()
    configs: dict[str, Tree] = {}
    modes: dict[str, Tree] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            key, value = (msgspec.json.decode(part) for part in line.split("\t", 1))
            place = key.get("subject") or "", key.get("version") or 0
            match key.get("keytype"):
                case "SCHEMA" if value is None:
                    versions.pop(place, None)
                case "SCHEMA":
                    versions |= by_version([value])
                    (deleted.add if value.get("deleted") else deleted.discard)(place)
                case "CONFIG" | "MODE" as kind:
                    held = configs if kind == "CONFIG" else modes
                    held.pop(place[0], None)
                    held |= {} if value is None else {place[0]: value}
                case "DELETE_SUBJECT" if value is not None:
                    deleted |= {one for one in versions if one[0] == place[0] and one[1] <= value["version"]}
        except (ValueError, TypeError, KeyError, AttributeError):
            sentence = "this line is none of the topic _schemas: a key and a value, with a tab between them."
            raise DocumentRefused(sentence, place=f"{path}:{number}") from None
    return Held(versions, frozenset(one for one in deleted if one in versions), configs, modes)


def import_subjects(source: Held, target: SchemaRegistry) -> ImportReport:
    """Let a target have what a source has. Versions that only the target has stay, and are reported."""
    report = ImportReport(left_out=[])
    present = read_registry(target)
    wanted = {place: tree for place, tree in source.versions.items() if not _is_same(tree, present.versions.get(place))}
    report.unchanged = len(source.versions) - len(wanted)
    for subject in sorted({one for one, _ in wanted}):
        target.ask("PUT", f"/mode/{quote(subject, safe='')}?force=true", {"mode": "IMPORT"})
    _register(wanted, target, report)
    for place in sorted(source.deleted - present.deleted):
        _delete(place, target, report)
    for place in sorted(present.versions.keys() - source.versions.keys()):
        report.left_out.append({"subject": place[0], "version": place[1], "reason": "only the target has it"})
    report.configs = _set(target, "config", source, present, report)
    touched = {one for one, _ in wanted}
    report.modes = _set(target, "mode", source, present, report, restored=touched)
    return report


def _is_same(wanted: Tree, present: Tree | None) -> bool:
    """Whether a version is there; GUIDs that the source does not tell count for nothing."""
    return present is not None and all(present.get(name) == value for name, value in wanted.items())


def _register(wanted: dict[tuple[str, int], Tree], target: SchemaRegistry, report: ImportReport) -> None:
    """Register versions in the order of their ids, which is that of references, and again as long as that helps."""
    waiting = sorted(wanted, key=lambda place: (wanted[place]["id"], place))
    refused: dict[tuple[str, int], str] = {}
    while waiting:
        refused = {}
        for subject, version in waiting:
            body = {**wanted[subject, version], "version": version}
            status, answer = target.ask("POST", f"/subjects/{quote(subject, safe='')}/versions", body)
            if status == 200:
                report.created += 1
            else:
                refused[subject, version] = _message(status, answer)
        if len(refused) == len(waiting):
            break
        waiting = list(refused)
    report.left_out += [{"subject": one, "version": number, "reason": why} for (one, number), why in refused.items()]


def _delete(place: tuple[str, int], target: SchemaRegistry, report: ImportReport) -> None:
    subject, version = place
    status, answer = target.ask("DELETE", f"/subjects/{quote(subject, safe='')}/versions/{version}")
    if status == 200:
        report.deleted += 1
    else:
        report.left_out.append({"subject": subject, "version": version, "reason": _message(status, answer)})


def _set(
    target: SchemaRegistry,
    kind: str,
    source: Held,
    present: Held,
    report: ImportReport,
    restored: Iterable[str] = (),
) -> int:
    """Set configurations or modes as the source has them; `restored` are subjects whose mode is IMPORT meanwhile."""
    wanted, there = (getattr(one, f"{kind}s") for one in (source, present))
    changed = 0
    for scope in sorted({*wanted, *there, *restored}):
        path = f"/{kind}/{quote(scope, safe='')}" if scope else f"/{kind}"
        before, after = there.get(scope), wanted.get(scope)
        if before == after and scope not in restored:
            continue
        if after is None:
            status, answer = target.ask("DELETE", path) if scope else (200, None)
        else:
            status, answer = target.ask("PUT", f"{path}?force=true", _as_set(after))
        if status != 200:
            report.left_out.append({"subject": scope, kind: after, "reason": _message(status, answer)})
        elif before != after and (after is not None or scope):
            changed += 1
    return changed


def _as_set(shown: Tree) -> Tree:
    """A configuration as it is set: the level has another name there."""
    named = {"compatibilityLevel": "compatibility"}
    return {
        named.get(name, name): value for name, value in shown.items() if name not in ("subject", "keytype", "magic")
    }


def _message(status: int, answer: Any) -> str:
    message = answer.get("message") if isinstance(answer, dict) else None
    return str(message or f"the target answers {status}")


def lines_of(report: ImportReport) -> Iterator[str]:
    """A report in words."""
    yield (
        f"imported {report.created} versions, {report.unchanged} were there; "
        f"{report.deleted} deleted, {report.configs} configurations, {report.modes} modes"
    )
    for one in report.left_out:
        version = f" version {one['version']}" if "version" in one else ""
        yield f"left out: {one['subject'] or 'all subjects'}{version}: {one['reason']}"
