"""The scope of a link: the whole catalog, a Group or a definition; and its renames."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.errors import BadFlag
from postroom.model.names import is_entity_id
from postroom.replication.replicas.replica_unit import Tree, Unit, group_xid, is_group

REFERENCES = frozenset({"basemessage", "dataschemauri", "dataschemaxid", "messagegroups", "xref"})
"""Attributes that lead to other entities of the same catalog, and have to follow when those are renamed."""


class LinkScope(msgspec.Struct, frozen=True):
    """A part of a catalog, and new names for some of it, as pairs of xids at the source and at the target."""

    xid: str = "/"
    renames: tuple[tuple[str, str], ...] = ()

    def covers(self, xid: str) -> bool:
        """Whether a unit at the source belongs to the part; a definition brings its Group along if that is missing."""
        return self.xid == "/" or xid == self.xid or xid.startswith(self.xid + "/") or xid == group_xid(self.xid)

    def is_only_container(self, xid: str) -> bool:
        """Whether a unit is a Group that only comes along because the definition in scope needs one."""
        return is_group(xid) and self.xid not in ("/", xid)

    def to_target(self, xid: str) -> str:
        """What a unit of the source is called at the target."""
        return _renamed(xid, self.renames)

    def to_source(self, xid: str) -> str:
        """What a unit of the target is called at the source."""
        return _renamed(xid, tuple((new, old) for old, new in self.renames))

    def renamed(self, unit: Unit) -> Unit:
        """A unit as it is at the target: its name, and the references in it."""
        if not self.renames:
            return unit
        entry = msgspec.structs.replace(unit.entry, path=unit.entry.path or unit.xid)
        history = unit.history and tuple(
            msgspec.structs.replace(state, body=self._moved(state.body)) for state in unit.history
        )
        body = self._body(unit)
        return msgspec.structs.replace(unit, xid=self.to_target(unit.xid), body=body, entry=entry, history=history)

    def _body(self, unit: Unit) -> Tree:
        if unit.is_group:
            return self._moved(unit.body)
        moved: Tree = {**unit.body, "meta": self._moved(unit.body["meta"])}
        if unit.versions:
            moved["versions"] = {one: self._moved(version) for one, version in unit.versions.items()}
        return moved

    def _moved(self, attributes: Tree) -> Tree:
        return {name: self._reference(value) if name in REFERENCES else value for name, value in attributes.items()}

    def _reference(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._reference(one) for one in value]
        if isinstance(value, str) and value.startswith(("/", "#/")):
            mark = "#" if value.startswith("#") else ""
            return mark + self.to_target(value.removeprefix("#"))
        return value


def _renamed(xid: str, renames: tuple[tuple[str, str], ...]) -> str:
    """The longest name that fits decides: a definition may go elsewhere than its Group."""
    fitting = [pair for pair in renames if xid == pair[0] or xid.startswith(pair[0] + "/")]
    if not fitting:
        return xid
    old, new = max(fitting, key=lambda pair: len(pair[0]))
    return new + xid[len(old) :]


def parse_scope(xid: str, renames: tuple[str, ...] = ()) -> LinkScope:
    """A scope as it is written: an xid, and renames as OLD=NEW."""
    pairs = [tuple(one.partition("=")[::2]) for one in renames]
    _check(xid, "--only")
    for old, new in pairs:
        _check(old, "--rename")
        _check(new, "--rename")
        if old.split("/")[1::2] != new.split("/")[1::2] or old == "/":
            raise BadFlag(f"{old} cannot become {new}: both must be xids of the same type.", place="--rename")
    news = [new.casefold() for _, new in pairs]
    if len(set(news)) < len(news):
        raise BadFlag("two things cannot get one name.", place="--rename")
    return LinkScope(xid, tuple((old, new) for old, new in pairs))


def _check(xid: str, place: str) -> None:
    parts = xid.split("/")[1:]
    is_xid = xid.startswith("/") and len(parts) in (2, 4) and all(is_entity_id(one) for one in parts)
    if xid != "/" and not is_xid:
        remedy = "Like /messagegroups/GROUP or /messagegroups/GROUP/messages/MESSAGE."
        raise BadFlag(f"{xid!r} is no xid of a group or a definition.", place=place, remedy=remedy)
