"""Constraints of messages: envelope attributes and protocol options, property by property."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.diff.change import BOTH, CONSUMERS, NOTHING, PRODUCERS, CatalogChange, Impact, action
from postroom.errors import DefinitionRefused
from postroom.messages.definitions.catalog_tree import Tree
from postroom.messages.definitions.constraints import is_required
from postroom.messages.definitions.property_types import is_now
from postroom.messages.definitions.templates import Template
from postroom.model.json_pointers import pointer
from postroom.protocols.protocol_table import wire_named

_MEMBERS = frozenset(("value", "type", "required", "description", "specurl", "name"))
_EDITORIAL = frozenset(("description", "specurl", "name"))
_STRING_TYPES = frozenset(("uritemplate", "timestamp", "duration", "uri", "urireference", "symbol", "binary"))
_TYPE_SYNONYMS = {"var": "any", "datetime": "timestamp"}


def constraint_changes(place: str, old: Any, new: Any) -> Iterator[CatalogChange]:
    """Changes of constraints, down to the properties."""
    old, new = _by_name(old), _by_name(new)
    if old == new:
        return
    if _is_section(old) and _is_section(new):
        for name in {**old, **new}:
            yield from constraint_changes(place + pointer((name,)), old.get(name, NOTHING), new.get(name, NOTHING))
        return
    impact, reason = _impact(_property(old), _property(new))
    yield CatalogChange(place, action(old, new), impact, reason)


def option_changes(place: str, protocol: str, old: Any, new: Any) -> Iterator[CatalogChange]:
    """Changes of the options of a protocol; what brokers rewrite never breaks anybody."""
    wire = wire_named(protocol)
    for change in constraint_changes(place, old, new):
        option = wire.option(change.place.removeprefix(place).split("/")[1] if change.place != place else "")
        if option is not None and not option.decides and change.breaks:
            reason = f"{option.name} is never compared, because brokers rewrite it."
            yield CatalogChange(change.place, change.change, "compatible", reason)
        else:
            yield change


def _by_name(value: Any) -> Any:
    """Headers and the like by their names, where each has one of its own."""
    if not isinstance(value, list) or not all(isinstance(one, dict) and "name" in one for one in value):
        return value
    named = {str(one["name"]): one for one in value}
    return named if len(named) == len(value) else value


def _is_section(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() <= _MEMBERS:
        return isinstance(value, dict)
    # An envelope may have an attribute `type` and no other; the type of a property is no object.
    return all(isinstance(one, dict) for one in value.values())


def _property(value: Any) -> Tree | None:
    if value is NOTHING:
        return None
    return value if isinstance(value, dict) else {"value": value}


def _impact(old: Tree | None, new: Tree | None) -> tuple[Impact, str]:
    was, now = old or {}, new or {}
    stricter: list[str] = []
    looser: list[str] = []
    for more, fewer, found in (_value(was, now), _type(was, now) if old and new else _NO_EFFECT, _required(was, now)):
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
    if {name for name in {**was, **now} if was.get(name) != now.get(name)} <= _EDITORIAL:
        return "editorial", "words only."
    return "compatible", "it says the same in other words."


# Whether more is demanded, whether less is promised, and how.
_Effect = tuple[bool, bool, str]
_NO_EFFECT: _Effect = (False, False, "")


def _value(was: Tree, now: Tree) -> _Effect:
    before, after = was.get("value", NOTHING), now.get("value", NOTHING)
    if before == after:
        return _NO_EFFECT
    if before is NOTHING:
        return True, False, f"the value has to be {after!r} now"
    if after is NOTHING:
        return False, True, f"the value need not be {before!r} any more"
    covers = _covers(before, after), _covers(after, before)
    sentence = f"the value {before!r} became {after!r}"
    return (not covers[1], not covers[0], sentence) if any(covers) else (True, True, sentence)


def _covers(template: Any, value: Any) -> bool:
    """Whether every string that fits the value also fits the template."""
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


def _type(was: Tree, now: Tree) -> _Effect:
    before, after = (_TYPE_SYNONYMS.get(str(one.get("type")), one.get("type")) for one in (was, now))
    if before == after:
        return _NO_EFFECT
    sentence = f"the type {before or 'string'} became {after or 'string'}"
    narrower, wider = _narrower(after, before), _narrower(before, after)
    if not narrower and not wider and _same_constant(was, now):
        return _NO_EFFECT
    return (narrower, wider, sentence) if narrower or wider else (True, True, sentence)


def _same_constant(was: Tree, now: Tree) -> bool:
    """Whether both have the same constant, so that the string type makes no difference."""
    texts = all(isinstance(one.get("value"), str) for one in (was, now))
    are_strings = all(one.get("type", "string") in (*_STRING_TYPES, "string") for one in (was, now))
    return texts and are_strings and was["value"] == now["value"]


def _narrower(one: Any, other: Any) -> bool:
    """Whether all values of a type are also values of the other."""
    return (
        other == "any"
        or (other in (None, "string") and one in _STRING_TYPES)
        or (one, other) in (("integer", "number"), ("uri", "urireference"))
    )


def _is_required(found: Tree) -> bool:
    value = found.get("value")
    return is_required(value, str(found.get("type") or ("timestamp" if is_now(value) else "")), found.get("required"))


def _required(was: Tree, now: Tree) -> _Effect:
    before, after = (_is_required(one) for one in (was, now))
    if after > before:
        return True, False, "it is required now"
    return False, before > after, "it is not required any more"
