"""YAML read as JSON: no tags, of repeated keys the last, and only what YAML 1.2 calls a number, a boolean or nothing.

YAML 1.1 would turn `no` into false, `12:30` into 750 and a date into an object.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class JsonLikeLoader(_Base):  # type: ignore[misc]  # the C loader has no type stubs
    """A YAML loader that yields what JSON could say."""


def _mapping(loader: Any, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
    members: dict[str, Any] = {}
    own, seen = {id(key) for key, _ in node.value}, set[str]()
    loader.flatten_mapping(node)
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        name = key if isinstance(key, str) else _text(key_node)
        value = loader.construct_object(value_node, deep=True)
        if name in seen:
            loader.overwritten.append((members, name, members[name]))
        if id(key_node) in own:  # not one that `<<` brought along, which may be overwritten
            seen.add(name)
        members[name] = value
    return members


def _text(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise yaml.constructor.ConstructorError(None, None, "a key must be text", node.start_mark)
    return str(node.value)


def _number(loader: Any, node: yaml.ScalarNode) -> int | float:
    text = str(node.value)
    try:
        value = int(text) if _INTEGER.match(text) else float(text)
    except ValueError:  # more digits than Python reads
        value = math.inf
    if not math.isfinite(value):
        raise yaml.constructor.ConstructorError(None, None, f"{text[:20]} is no number that JSON has", node.start_mark)
    return value


_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z|[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_IMPLICIT = (
    ("null", re.compile(r"(~|null|Null|NULL|)\Z"), ["~", "n", "N", ""]),
    ("bool", re.compile(r"(true|True|TRUE|false|False|FALSE)\Z"), list("tTfF")),
    ("float", _NUMBER, list("-+.0123456789")),
    ("merge", re.compile(r"<<\Z"), ["<"]),
)

_KEPT = (None, *(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "str", "seq", "map")))

JsonLikeLoader.yaml_constructors = {tag: _Base.yaml_constructors[tag] for tag in _KEPT}
JsonLikeLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
JsonLikeLoader.add_constructor("tag:yaml.org,2002:float", _number)
JsonLikeLoader.add_constructor("tag:yaml.org,2002:int", _number)
JsonLikeLoader.yaml_implicit_resolvers = {}
for _name, _pattern, _first in _IMPLICIT:
    JsonLikeLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _pattern, _first)


def load_yaml(text: str, overwritten: list[tuple[dict[str, Any], str, Any]]) -> Any:
    """The JSON value of a YAML text; `overwritten` gets what keys that come again had before."""
    loader = JsonLikeLoader(text)
    loader.overwritten = overwritten
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()
