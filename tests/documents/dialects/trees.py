"""Catalog trees for properties: all protocols, bases, schemas with versions, endpoints."""

from typing import Any

from hypothesis import strategies as st

Tree = dict[str, Any]

IDS = st.sampled_from(["oven.hot", "oven.cold", "order_paid", "door~open", "a@b"])
TEXTS = st.sampled_from(["loaf", "{oven}", "/ovens/{oven}", "x y", "0"])
TYPES = st.sampled_from(["string", "uritemplate", "timestamp", "integer", "any", "uri"])
EXTENSIONS = st.dictionaries(st.sampled_from(["owner", "x_team"]), st.integers() | TEXTS | st.booleans(), max_size=1)


def optional(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    return st.fixed_dictionaries({}, optional=members)


PROPERTY = optional(value=TEXTS, type=TYPES, required=st.booleans(), description=TEXTS)
METADATA = st.dictionaries(st.sampled_from(["type", "source", "subject", "time", "oven"]), PROPERTY, max_size=3)
NAMED = st.lists(st.fixed_dictionaries({"name": TEXTS, "value": TEXTS}), max_size=2, unique_by=lambda one: one["name"])
SECTION = st.dictionaries(st.sampled_from(["subject", "to", "My-Name"]), PROPERTY, max_size=2)
OPTIONS: dict[str, st.SearchStrategy[Tree]] = {
    "MQTT/5.0": optional(qos=st.integers(0, 2), topic_name=TEXTS, content_type=TEXTS, user_properties=NAMED),
    "MQTT/3.1.1": optional(qos=st.integers(0, 2), retain=st.booleans(), topic_name=TEXTS),
    "AMQP/1.0": optional(**{"properties": SECTION, "application-properties": SECTION}),
    "KAFKA": optional(topic=TEXTS, key=TEXTS, partition=st.integers(0, 9)) | optional(key_base64=TEXTS),
    "HTTP": optional(method=TEXTS, path=TEXTS, headers=NAMED, query=NAMED),
    "NATS": optional(subject=TEXTS, headers=NAMED),
}
COMMON = {"name": TEXTS, "description": TEXTS, "labels": st.just({"team": "ovens"}), "documentation": TEXTS}
ATTRIBUTES = optional(
    **COMMON,
    dataschemaformat=st.just("JsonSchema/draft-07"),
    dataschemauri=st.sampled_from(["/schemagroups/s/schemas/loaf", "https://example.com/loaf.json"]),
    datacontenttype=st.just("application/json"),
    basemessage=st.sampled_from(["/messagegroups/ovens/messages/oven.hot", "https://example.com/base"]),
    envelopeoptions=st.just({"mode": "binary"}),
)


@st.composite
def messages(draw: st.DrawFn) -> Tree:
    message = {**draw(ATTRIBUTES), **draw(EXTENSIONS)}
    if draw(st.booleans()):
        message |= {"envelope": "CloudEvents/1.0", "envelopemetadata": draw(METADATA)}
    if draw(st.booleans()):
        protocol = draw(st.sampled_from(sorted(OPTIONS)))
        message |= {"protocol": protocol, "protocoloptions": draw(OPTIONS[protocol])}
    return message


VERSION = st.fixed_dictionaries({"format": st.just("Avro/1.9"), "schema": st.just({"type": "string"})})
SCHEMA = st.fixed_dictionaries({"versions": st.dictionaries(st.sampled_from(["1", "2"]), VERSION, min_size=1)})
ENDPOINT = st.fixed_dictionaries(
    {"usage": st.lists(st.sampled_from(["consumer", "producer"]), min_size=1, max_size=2, unique=True)},
    optional={
        **COMMON,
        "envelope": st.just("CloudEvents/1.0"),
        "protocol": st.sampled_from(["MQTT/5.0", "AMQP/1.0"]),
        "protocoloptions": optional(
            topic=TEXTS,
            cleanstart=st.booleans(),
            deployed=st.booleans(),
            endpoints=st.just([{"uri": "mqtt://ovens.example"}]),
        ),
        "messagegroups": st.just(["/messagegroups/ovens"]),
    },
)
GROUP = st.fixed_dictionaries({"messages": st.dictionaries(IDS, messages(), max_size=3)}, optional=COMMON)
TREES = st.fixed_dictionaries(
    {"messagegroups": st.dictionaries(st.sampled_from(["ovens", "shop"]), GROUP, min_size=1)},
    optional={
        "schemagroups": st.just({})
        | st.fixed_dictionaries({"s": st.fixed_dictionaries({"schemas": st.dictionaries(IDS, SCHEMA, max_size=2)})}),
        "endpoints": st.dictionaries(st.just("kitchen"), ENDPOINT),
    },
)
