"""A model of messages as strict as the published one: no extensions in messages, nothing inherited, other names."""

from __future__ import annotations

from typing import Any

Tree = dict[str, Any]

TEMPLATE, TEXT, NUMBER, ANY = ({"type": name} for name in ("uritemplate", "string", "integer", "any"))


def objects(**attributes: Tree) -> Tree:
    return {"type": "object", "namecharset": "extended", "attributes": attributes}


def with_options(options: Tree) -> Tree:
    return {"siblingattributes": {"protocoloptions": options}}


def properties(value: Tree) -> Tree:
    return objects(**{"*": objects(value=value, type=TEXT, required={"type": "boolean"}, description=TEXT)})


NAMED = {"type": "array", "item": objects(name=TEXT, value=TEMPLATE)}
PROTOCOLS: dict[str, Tree] = {
    "KAFKA": objects(topic=TEMPLATE, key=TEMPLATE, partition=NUMBER, headers={"type": "map", "item": TEXT}),
    "NATS": objects(subject=TEMPLATE, headers=NAMED),
    "MQTT/5.0": objects(topic_name=TEMPLATE, qos=NUMBER, retain={"type": "boolean"}, user_properties=NAMED),
    "AMQP/1.0": objects(properties=properties(TEMPLATE)),
    "HTTP": objects(method=TEXT, path=TEMPLATE, headers=NAMED, query=NAMED),
}
MESSAGE: Tree = {
    "singular": "message",
    "maxversions": 1,
    "hasdocument": False,
    "attributes": {
        "basemessageuri": {"type": "uri"},
        "envelope": {
            "type": "string",
            "ifvalues": {"CloudEvents/1.0": {"siblingattributes": {"envelopemetadata": properties(ANY)}}},
        },
        "protocol": {"type": "string", "ifvalues": {name: with_options(one) for name, one in PROTOCOLS.items()}},
        "dataschemaformat": TEXT,
        "dataschema": ANY,
        "dataschemauri": {"type": "uri"},
    },
}
OPEN: Tree = {"*": ANY}
STRICT: Tree = {
    "groups": {
        # Under another singular our rules on messages do not count, as they do not in other people's registries.
        "messagegroups": {"singular": "group", "attributes": OPEN, "resources": {"messages": MESSAGE}},
        "schemagroups": {
            "singular": "schemagroup",
            "attributes": OPEN,
            "resources": {"schemas": {"singular": "schema", "attributes": {"format": TEXT, **OPEN}}},
        },
        "endpoints": {"singular": "endpoint", "attributes": OPEN},
    }
}
