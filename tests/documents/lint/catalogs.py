"""Small catalogs for the lint tests: one that is clean, and ways to spoil it."""

from __future__ import annotations

import copy
from typing import Any
from unittest.mock import patch

from postroom.catalog.lint import lint_source
from postroom.documents.lint.findings import Finding
from postroom.settings import Settings

Tree = dict[str, Any]

GROUP = "/messagegroups/fleet"
MOVED = f"{GROUP}/messages/vehicle.moved"
SCHEMA = "/schemagroups/fleet.schemas/schemas/position"
ENDPOINT = "/endpoints/fleet.mqtt"

POSITION: Tree = {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}

CLEAN: Tree = {
    "messagegroups": {
        "fleet": {
            "messages": {
                "vehicle.moved": {
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {
                        "type": {"value": "vehicle.moved"},
                        "source": {"type": "uritemplate", "value": "/vehicles/{vin}"},
                        "time": {"type": "timestamp", "value": "0000-01-01T00:00:00Z"},
                    },
                    "protocol": "MQTT/5.0",
                    "protocoloptions": {"topic_name": "vehicles/{vin}/moved", "qos": 1, "retain": False},
                    "dataschemaformat": "JsonSchema/draft-07",
                    "dataschemauri": SCHEMA,
                    "datacontenttype": "application/json",
                }
            }
        }
    },
    "schemagroups": {
        "fleet.schemas": {
            "schemas": {
                "position": {
                    "format": "JsonSchema/draft-07",
                    "versions": {"1": {"format": "JsonSchema/draft-07", "schema": POSITION}},
                }
            }
        }
    },
    "endpoints": {
        "fleet.mqtt": {
            "usage": ["producer"],
            "protocol": "MQTT/5.0",
            "envelope": "CloudEvents/1.0",
            "protocoloptions": {"endpoints": [{"uri": "mqtts://broker.example:8883"}], "topic": "vehicles"},
            "messagegroups": [GROUP],
        }
    },
}


def merged(base: Any, change: Any) -> Any:
    """A value with changes laid over it: objects merge, None removes, everything else replaces."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    result = dict(base)
    for name, value in change.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def spoilt(change: Tree) -> Tree:
    """The clean catalog with a change."""
    return merged(copy.deepcopy(CLEAN), change)


def with_message(change: Tree) -> Tree:
    """The clean catalog with a change to its message."""
    return spoilt({"messagegroups": {"fleet": {"messages": {"vehicle.moved": change}}}})


def with_attribute(name: str, value: Any) -> Tree:
    """The clean catalog with another envelope attribute."""
    return with_message({"envelopemetadata": {name: value}})


def with_options(protocol: str, options: Any) -> Tree:
    """The clean catalog without an endpoint and with a message of another protocol."""
    tree = with_message({"protocol": protocol, "protocoloptions": None})
    del tree["endpoints"]
    tree["messagegroups"]["fleet"]["messages"]["vehicle.moved"]["protocoloptions"] = options
    return tree


def with_second(message: Tree, name: str = "vehicle.stopped") -> Tree:
    """The clean catalog with a second message."""
    return spoilt({"messagegroups": {"fleet": {"messages": {name: message}}}})


def with_schema(change: Tree) -> Tree:
    """The clean catalog with a change to its schema."""
    return spoilt({"schemagroups": {"fleet.schemas": {"schemas": {"position": change}}}})


def with_versions(compatibility: str, *documents: Any) -> Tree:
    """The clean catalog with Versions of its schema, under a stated compatibility."""
    versions = {
        str(number): {"format": "JsonSchema/draft-07", "schema": document}
        for number, document in enumerate(documents, 1)
    }
    tree = with_schema({"meta": {"compatibility": compatibility}})
    tree["schemagroups"]["fleet.schemas"]["schemas"]["position"]["versions"] = versions
    return tree


def with_endpoint(change: Tree) -> Tree:
    """The clean catalog with a change to its endpoint."""
    return spoilt({"endpoints": {"fleet.mqtt": change}})


def lint(tree: Tree) -> list[Finding]:
    """The findings in a catalog as a store would give it."""
    with patch("postroom.catalog.lint.read_source", return_value=tree):
        return lint_source("sqlite:///registry.db", Settings())
