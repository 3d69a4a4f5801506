"""Words of older model texts, read as today's: those of 1.0-rc1 to rc3, and one slip of the published models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

Tree = dict[str, Any]

SECTIONS = ("attributes", "resourceattributes", "metaattributes")
NO_RULE = "none"
"""What 1.0-rc2 calls the absence of a compatibility rule."""
MESSAGES = "/messagegroups/messages"
MESSAGEGROUPS = "/messagegroups"


class OldWord(msgspec.Struct, frozen=True):
    """An older word of a model source: where it is, and what became of it."""

    place: str
    sentence: str


def read_older_words(source: Tree) -> tuple[Tree, list[OldWord]]:
    """A model source in today's words, and the older ones it was written with; wrong shapes are left as they are."""
    reader = _Reader()
    made = reader.attribute_sections(source, "")
    return _changed(made, "groups", lambda groups: _each(groups, reader.group, "/groups")), reader.found


class _Reader:
    def __init__(self) -> None:
        self.found: list[OldWord] = []
        self.requires_defaults = False

    def note(self, place: str, sentence: str) -> None:
        self.found.append(OldWord(place, sentence))

    def group(self, tree: Tree, pointer: str) -> Tree:
        self.requires_defaults = "compatiblewith" in tree  # rc1: a default makes its attribute required
        tree = self.attribute_sections(self.entity_type(tree, pointer), pointer)
        if pointer == "/groups/endpoints":
            tree = _changed(tree, "attributes", lambda known: self.used_groups(known, f"{pointer}/attributes"))
        return _changed(tree, "resources", lambda known: _each(known, self.resource, f"{pointer}/resources"))

    def resource(self, tree: Tree, pointer: str) -> Tree:
        tree = self.attribute_sections(self.entity_type(tree, pointer), pointer)
        tree = self.without(tree, "setdefaultversionsticky", pointer, "is no aspect any more and has no effect")
        return _changed(tree, "metaattributes", lambda known: self.meta(known, f"{pointer}/metaattributes"))

    def entity_type(self, tree: Tree, pointer: str) -> Tree:
        if "compatiblewith" not in tree:
            return tree
        self.note(f"{pointer}/compatiblewith", "compatiblewith is called modelcompatiblewith today")
        return {"modelcompatiblewith": tree["compatiblewith"], **_less(tree, "compatiblewith")}

    def used_groups(self, attributes: Tree, pointer: str) -> Tree:
        """The published endpoint models give messagegroups the target of messages; their text means the groups."""

        def item(known: Tree) -> Tree:
            if known.get("target") != MESSAGES:
                return known
            sentence = f"the target {MESSAGES} is read as {MESSAGEGROUPS}: an endpoint names groups of messages"
            self.note(f"{pointer}/messagegroups/item/target", sentence)
            return {**known, "target": MESSAGEGROUPS}

        return _changed(attributes, "messagegroups", lambda known: _changed(known, "item", item))

    def meta(self, attributes: Tree, pointer: str) -> Tree:
        def rule(known: Tree) -> Tree:
            if known.get("default") != NO_RULE:
                return known
            self.note(f"{pointer}/compatibility", f"{NO_RULE!r} is no rule any more: no rule is no attribute")
            return without_no_rule(known)

        return _changed(attributes, "compatibility", rule)

    def attribute_sections(self, holder: Tree, pointer: str) -> Tree:
        for section in SECTIONS:
            each = partial(_each, change=self.attribute, pointer=f"{pointer}/{section}")
            holder = _changed(holder, section, each)
        return holder

    def attribute(self, definition: Tree, pointer: str) -> Tree:
        made = self.without(definition, "matchcase", pointer, "has no effect: strings are compared ignoring case")
        if "clientrequired" in made:
            self.note(f"{pointer}/clientrequired", "clientrequired is called required today")
            made = {"required": made["clientrequired"], **_less(made, "clientrequired")}
        if made.get("serverrequired") and made.get("default") is not None:
            made = {"required": True, **made}
        made = self.without(made, "serverrequired", pointer, "is no aspect any more; a default needs required")
        if self.requires_defaults and made.get("default") is not None:
            made = {**made, "required": True}
        made = _changed(made, "attributes", lambda known: _each(known, self.attribute, f"{pointer}/attributes"))
        made = _changed(made, "item", lambda known: self.attribute(known, f"{pointer}/item"))
        return _changed(made, "ifvalues", lambda known: _each(known, self.clause, f"{pointer}/ifvalues"))

    def clause(self, clause: Tree, pointer: str) -> Tree:
        here = f"{pointer}/siblingattributes"
        return _changed(clause, "siblingattributes", lambda known: _each(known, self.attribute, here))

    def without(self, holder: Tree, name: str, pointer: str, reason: str) -> Tree:
        if name not in holder:
            return holder
        self.note(f"{pointer}/{name}", f"{name} {reason}")
        return _less(holder, name)


def without_no_rule(rule: Tree) -> Tree:
    """The definition of `compatibility` as 1.0-rc2 has it, without the word that means no rule."""
    made = dict(rule)
    if isinstance(made.get("enum"), list):
        made["enum"] = [one for one in made["enum"] if one != NO_RULE]
    if made.get("default") == NO_RULE:
        del made["default"]
        made.pop("required", None)
    return made


def _changed(holder: Tree, name: str, change: Callable[[Tree], Tree]) -> Tree:
    known = holder.get(name)
    return {**holder, name: change(known)} if isinstance(known, dict) else holder


def _each(known: Tree, change: Callable[[Tree, str], Tree], pointer: str) -> Tree:
    return {name: change(one, f"{pointer}/{name}") if isinstance(one, dict) else one for name, one in known.items()}


def _less(holder: Tree, name: str) -> Tree:
    return {key: value for key, value in holder.items() if key != name}
