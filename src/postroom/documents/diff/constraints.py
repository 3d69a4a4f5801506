"""Constraints of messages: envelope attributes and protocol options, property by property."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.diff.change import BOTH, CONSUMERS, NOTHING, PRODUCERS, Change, Kind, what
from postroom.errors import DefinitionRefused
from postroom.messages.definitions.catalog_tree import Tree
from postroom.messages.definitions.templates import Template
from postroom.model.json_pointers import pointer
from postroom.protocols.protocol_table import wire_named

_MEMBERS = frozenset(("value", "type", "required", "description", "specurl", "name"))
_WORDS = frozenset(("description", "specurl", "name"))
_TEXTS = frozenset(("uritemplate", "timestamp", "duration", "uri", "urireference", "symbol", "binary"))
_SAME_TYPES = {"var": "any", "datetime": "timestamp"}


def constraint_changes(place: str, old: Any, new: Any) -> Iterator[Change]:
    """Changes of constraints, down to the properties."""
    old, new = _by_name(old), _by_name(new)
    if old == new:
        return
    if _is_section(old) and _is_section(new):
        for name in {**old, **new}:
            yield from constraint_changes(place + pointer((name,)), old.get(name, NOTHING), new.get(name, NOTHING))
        return
    kind, reason = _judged(_property(old), _property(new))
    yield Change(place, what(old, new), kind, reason)


def option_changes(place: str, protocol: str, old: Any, new: Any) -> Iterator[Change]:
    """The same for the options of a protocol; what brokers rewrite never decides."""
    wire = wire_named(protocol)
    for change in constraint_changes(place, old, new):
        option = wire.option(change.place.removeprefix(place).split("/")[1] if change.place != place else "")
        if option is not None and not option.decides and change.breaks:
            reason = f"{option.name} is never compared, because brokers rewrite it."
            yield Change(change.place, change.change, "compatible", reason)
        else:
            yield change


def _by_name(value: Any) -> Any:
    """Repeatable things by their names, where each has one of its own."""
    if not isinstance(value, list) or not all(isinstance(one, dict) and "name" in one for one in value):
        return value
    named = {str(one["name"]): one for one in value}
    return named if len(named) == len(value) else value


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) and not (value and value.keys() <= _MEMBERS)


def _property(value: Any) -> Tree | None:
    if value is NOTHING:
        return None
    return value if isinstance(value, dict) else {"value": value, "required": True}


def _judged(old: Tree | None, new: Tree | None) -> tuple[Kind, str]:
    was, now = old or {}, new or {}
    stricter: list[str] = []
    looser: list[str] = []
    for more, fewer, found in (_value(was, now), _type(was, now) if old and new else _SAME, _required(was, now)):
        stricter += [found] if more else []
        looser += [found] if fewer else []
    if stricter and looser:
        return BOTH, f"{'; '.join(dict.fromkeys([*stricter, *looser]))}."
    if stricter:
        return PRODUCERS, f"{'; '.join(stricter)}."
    if looser:
        return CONSUMERS, f"{'; '.join(looser)}."
    if old is None or new is None:
        return "compatible", "an optional property."
    if {name for name in {**was, **now} if was.get(name) != now.get(name)} <= _WORDS:
        return "editorial", "words only."
    return "compatible", "it says the same in other words."


# Whether more is demanded, whether less is promised, and how.
_Verdict = tuple[bool, bool, str]
_SAME: _Verdict = (False, False, "")


def _value(was: Tree, now: Tree) -> _Verdict:
    before, after = was.get("value", NOTHING), now.get("value", NOTHING)
    if before == after:
        return _SAME
    if before is NOTHING:
        return True, False, f"the value has to be {after!r} now"
    if after is NOTHING:
        return False, True, f"the value need not be {before!r} any more"
    covers = _covers(before, after), _covers(after, before)
    said = f"the value {before!r} became {after!r}"
    return (not covers[1], not covers[0], said) if any(covers) else (True, True, said)


def _covers(template: Any, value: Any) -> bool:
    """Whether every text that fits the value also fits the template."""
    if not isinstance(template, str) or not isinstance(value, str):
        return False
    try:
        one, other = Template(template), Template(value)
    except DefinitionRefused:
        return False
    if not one.names:
        return False
    if other.names:
        return one.literals == other.literals and len(set(one.names)) >= len(set(other.names))
    return one.extract(value) is not None


def _type(was: Tree, now: Tree) -> _Verdict:
    before, after = (_SAME_TYPES.get(str(one.get("type")), one.get("type")) for one in (was, now))
    if before == after:
        return _SAME
    said = f"the type {before or 'string'} became {after or 'string'}"
    narrower, wider = _narrower(after, before), _narrower(before, after)
    if not narrower and not wider and _fixed_text(was, now):
        return _SAME
    return (narrower, wider, said) if narrower or wider else (True, True, said)


def _fixed_text(was: Tree, now: Tree) -> bool:
    """Whether both fix the same text, so that the kinds of text they are make no difference."""
    texts = all(isinstance(one.get("value"), str) for one in (was, now))
    kinds = all(one.get("type", "string") in (*_TEXTS, "string") for one in (was, now))
    return texts and kinds and was["value"] == now["value"]


def _narrower(kind: Any, other: Any) -> bool:
    """Whether all values of a type are also values of the other."""
    return (
        other == "any"
        or (other in (None, "string") and kind in _TEXTS)
        or (kind, other) in (("integer", "number"), ("uri", "urireference"))
    )


def _required(was: Tree, now: Tree) -> _Verdict:
    before, after = bool(was.get("required")), bool(now.get("required"))
    if after > before:
        return True, False, "it is required now"
    return False, before > after, "it is not required any more"
