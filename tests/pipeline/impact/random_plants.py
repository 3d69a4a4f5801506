"""Random catalogs of a plant, changes of them, and its traffic: few names, so that definitions get in the way."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

from tests.messages.random_catalogs import Tree

GROUP = "/messagegroups/plant/messages"
TYPES = ("reading", "alarm", "report")
TOPICS = ("plant/1/oven", "plant/2/oven", "yard/1", "plant/oven")
SCHEMAS: dict[str, Any] = {
    "number": {"type": "object", "required": ["value"], "properties": {"value": {"type": "number"}}},
    "whole": {"type": "object", "required": ["value"], "properties": {"value": {"type": "integer"}}},
    "text": {"type": "object", "properties": {"value": {"type": "string"}, "unit": {"type": "string"}}},
    "referring": {"type": "object", "properties": {"value": {"$ref": "/schemagroups/s/schemas/value"}}},
}
SHAPES = ("event", "event", "event", "topic", "topic", "event on a topic", "open event")
VALUES = {"number": {"type": "number"}, "text": {"type": "string"}, "any": {}}

seldom = st.integers(0, 3).map(lambda number: number == 3)


@st.composite
def definitions(draw: st.DrawFn) -> Tree:
    """An event with or without a type, a message of MQTT, or an event on a topic of MQTT."""
    made: Tree = {}
    shape = draw(st.sampled_from(SHAPES))
    if "event" in shape:
        made["envelope"] = "CloudEvents/1.0"
        attributes: Tree = {"source": {"value": "/plants/{plant}"}} if draw(seldom) else {}
        if draw(seldom):
            attributes["level"] = {"value": draw(st.sampled_from(["high", "low"])), "required": draw(st.booleans())}
        if shape != "open event":
            attributes["type"] = {"value": draw(st.sampled_from(TYPES))}
        made["envelopemetadata"] = attributes
    if "topic" in shape:
        made["protocol"] = "MQTT/5.0"
        topic = draw(st.sampled_from([*TOPICS, "plant/{n}/oven", "{any}", "plant/{n}", "yard/{n}"]))
        made["protocoloptions"] = {"topic_name": {"type": "uritemplate", "value": topic}}
        if draw(seldom):
            made["protocoloptions"]["topic_name"]["required"] = draw(st.booleans())
    form = draw(st.sampled_from(["none", "stored", *SCHEMAS])) if draw(st.booleans()) else "none"
    if form != "none":
        made["dataschemaformat"] = "JsonSchema/draft-07"
        if form == "stored":
            made["dataschemauri"] = "/schemagroups/s/schemas/reading"
        else:
            made["dataschema"] = SCHEMAS[form]
        made["datacontenttype"] = "application/json"
    return made


@st.composite
def plants(draw: st.DrawFn) -> Tree:
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=2, unique=True))
    messages = {name: draw(definitions()) for name in names}
    bases = [name for name, one in messages.items() if "type" not in one.get("envelopemetadata", {"type": 0})]
    for name, one in messages.items():
        if bases and name not in bases and "envelope" in one and draw(seldom):
            one["basemessage"] = f"{GROUP}/{draw(st.sampled_from(bases))}"
    return _tree(messages, draw(st.sampled_from(["number", "text", "referring"])), draw(st.sampled_from([*VALUES])))


def _tree(messages: Tree, reading: str, value: str) -> Tree:
    def stored(schema: Any) -> Tree:
        return {"versions": {"1": {"versionid": "1", "format": "JsonSchema/draft-07", "schema": schema}}}

    schemas = {"reading": stored(SCHEMAS[reading]), "value": stored(VALUES[value])}
    return {
        "messagegroups": {"plant": {"messages": messages}},
        "schemagroups": {"s": {"schemas": schemas}},
    }


@st.composite
def edits(draw: st.DrawFn, tree: Tree) -> Tree:
    """A catalog that differs in one or a few places."""
    made = copy.deepcopy(tree)
    messages = made["messagegroups"]["plant"]["messages"]
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from([*messages, "g"]))
        match draw(st.sampled_from(["replace", "remove", "schema", "value", "constraint"])):
            case "replace":
                base = {key: one for key, one in messages.get(name, {}).items() if key == "basemessage"}
                messages[name] = draw(definitions())
                if "envelope" in messages[name]:
                    messages[name] |= base
            case "remove" if not any(one.get("basemessage", "").endswith(f"/{name}") for one in messages.values()):
                messages.pop(name, None)
            case "schema":
                made["schemagroups"] = _tree({}, draw(st.sampled_from(["number", "text", "referring"])), "any")[
                    "schemagroups"
                ]
            case "value":
                schema = made["schemagroups"]["s"]["schemas"]["value"]["versions"]["1"]
                schema["schema"] = VALUES[draw(st.sampled_from([*VALUES]))]
            case "constraint" if "envelopemetadata" in messages.get(name, {}):
                messages[name]["envelopemetadata"]["level"] = {"value": "high", "required": True}
    return made


data = st.fixed_dictionaries({}, optional={"value": st.sampled_from([1, 1.5, "x", None]), "unit": st.just("C")})


@st.composite
def records(draw: st.DrawFn) -> Any:
    def made() -> Tree:
        found: Tree = {"specversion": "1.0", "id": "1", "source": draw(st.sampled_from(["/plants/7", "/x"]))}
        found |= {"type": draw(st.sampled_from(TYPES)), "data": draw(data)}
        return found | draw(st.fixed_dictionaries({}, optional={"level": st.sampled_from(["high", "low"])}))

    shape = draw(st.sampled_from(["event", "event", "topic", "topic", "event on a topic", "batch", "broken"]))
    if shape == "event":
        return made()
    if shape == "batch":
        return [made() for _ in range(draw(st.integers(1, 3)))]
    if shape == "broken":
        return {"specversion": "1.0"}
    metadata: Tree = {"topic_name": draw(st.sampled_from(TOPICS)), "qos": 0}
    if shape == "topic":
        return {"protocol": "MQTT/5.0", "metadata": metadata, "payload": json.dumps(draw(data))}
    sent = made() | {"datacontenttype": "application/json"}
    payload = json.dumps(sent.pop("data"))
    metadata["content_type"] = sent.pop("datacontenttype")
    metadata["user_properties"] = [{"name": name, "value": value} for name, value in sent.items()]
    return {"protocol": "MQTT/5.0", "metadata": metadata, "payload": payload}
