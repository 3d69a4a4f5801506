"""YAML read as JSON: no tags, no dates turned into objects, no duplicate keys."""

from __future__ import annotations

from typing import Any

import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class JsonLikeLoader(_Base):  # type: ignore[misc]  # the C loader has no type stubs
    """A YAML loader that yields what JSON could say."""


def _mapping(loader: Any, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
    members: dict[str, Any] = {}
    loader.flatten_mapping(node)
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        name = key if isinstance(key, str) else _text(key_node)
        if name in members:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {name!r} appears twice in one mapping", key_node.start_mark
            )
        members[name] = loader.construct_object(value_node, deep=True)
    return members


def _text(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise yaml.constructor.ConstructorError(None, None, "a key must be text", node.start_mark)
    return str(node.value)


JsonLikeLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
JsonLikeLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}


def load_yaml(text: str) -> Any:
    """The JSON value of a YAML text."""
    return yaml.load(text, Loader=JsonLikeLoader)  # noqa: S506 - the loader derives from the safe one
