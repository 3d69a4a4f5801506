"""Metadata and rules of a new version: what the client sends, between the defaults and the overrides that are set.

What a client does not send at all is taken from the version before.
"""

from __future__ import annotations

from typing import Any

from postroom.http.confluent.call import Tree

_RULES = ("migrationRules", "domainRules", "encodingRules")


def completed_metadata(config: Tree, given: Any, before: Tree | None) -> Tree:
    """The metadata of a version."""
    own = given if given is not None else before
    merged: Tree = {}
    for one in (config.get("defaultMetadata"), own, config.get("overrideMetadata")):
        merged = _merged_metadata(merged, one) if isinstance(one, dict) else merged
    return merged


def completed_rules(config: Tree, given: Any, before: Tree | None) -> Tree:
    """The rules of a version: by name, a later one replaces an earlier one."""
    own = given if given is not None else before
    merged: Tree = {}
    for one in (config.get("defaultRuleSet"), own, config.get("overrideRuleSet")):
        if isinstance(one, dict):
            merged |= {name: _merged_rules(merged.get(name), one[name]) for name in _RULES if one.get(name)}
            merged |= {name: value for name, value in one.items() if name not in _RULES and value is not None}
    return merged


def _merged_metadata(under: Tree, over: Tree) -> Tree:
    merged = {**under, **{name: value for name, value in over.items() if value}}
    for name in ("properties", "tags"):
        if under.get(name) and over.get(name):
            merged[name] = {**under[name], **over[name]}
    for tag in (under.get("tags") or {}).keys() & (over.get("tags") or {}).keys():
        merged["tags"][tag] = list(dict.fromkeys([*under["tags"][tag], *over["tags"][tag]]))
    if under.get("sensitive") and over.get("sensitive"):
        merged["sensitive"] = list(dict.fromkeys([*under["sensitive"], *over["sensitive"]]))
    return merged


def _merged_rules(under: list[Tree] | None, over: list[Tree]) -> list[Tree]:
    names = {one.get("name") for one in over}
    return [*(one for one in under or [] if one.get("name") not in names), *over]
