"""Random message definitions for properties: everything that the message model lets an author say."""

from __future__ import annotations

import base64
import copy
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

from tests.messages.payloads import GROUPS, SCHEMAS, declared

Tree = dict[str, Any]
NAMES = ("vin", "depot", "a1", "Order_no")
PROTOCOLS = ("HTTP", "HTTP/1.1", "AMQP/1.0", "MQTT/3.1.1", "MQTT/5.0", "KAFKA", "NATS", "PIGEON/2")
BASE = "/messagegroups/g/messages/base"

words = st.text(st.characters(codec="utf-8", exclude_characters="{}", exclude_categories=["Cc", "Cs"]), max_size=6)
literals = st.sampled_from(["/", "/vehicles/", "-", ".", "?x=", "#", "ab", "%20", "é", "/d-"])
lengthy = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12)


@st.composite
def templates(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3))
    if len(names) == 1 and draw(st.booleans()):
        return f"{{{names[0]}}}"
    text: str = draw(words)
    for name in names:
        text += f"{{{name}}}" + draw(literals)
    return text


CONSTANTS: dict[str, st.SearchStrategy[Any]] = {
    "string": words.filter(bool),
    "any": words.filter(bool) | st.integers(-5, 5) | st.booleans(),
    "integer": st.integers(-(2**31), 2**31 - 1),
    "number": st.floats(allow_nan=False, allow_infinity=False, width=32) | st.integers(-9, 9),
    "boolean": st.booleans(),
    "symbol": st.from_regex(r"\A[A-Za-z0-9_]{1,8}\Z"),
    "binary": st.binary(min_size=1, max_size=6).map(lambda raw: base64.b64encode(raw).decode()),
    "timestamp": st.sampled_from(
        ["0000-01-01T00:00:00Z", "01-01-0000T00:00:00Z", "2026-05-04T10:00:00Z", "{vin}", "0001-01-01T00:00:00Z"]
    ),
    "duration": st.sampled_from(["P1D", "PT5M", "P2W"]),
    "uri": st.sampled_from(["https://example.com/a?b", "urn:x:y"]),
    "urireference": st.sampled_from(["/a/b", "https://example.com/", "x"]),
    "uritemplate": st.sampled_from(["/plain", "x"]),
}
TEMPLATED = ("string", "symbol", "uri", "uritemplate", "any")


@st.composite
def properties(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(CONSTANTS), may_be_open: bool = True) -> Tree:
    """A property: a constant, a template, or left open, with a type and whether it must be there."""
    kind = draw(st.sampled_from(kinds))
    made: Tree = {"type": kind}
    shape = draw(st.sampled_from(["constant", "template", "open"] if may_be_open else ["constant", "template"]))
    if shape == "template" and kind in TEMPLATED:
        made["value"] = draw(templates())
    elif shape != "open":
        made["value"] = draw(CONSTANTS[kind])
    required = draw(st.sampled_from([None, True, False]))
    if required is not None:
        made["required"] = required
    return made


@st.composite
def attributes(draw: st.DrawFn) -> Tree:
    made: Tree = {}
    if draw(st.booleans()):
        made["source"] = draw(properties(("uritemplate", "string", "uri", "urireference")))
        made["source"].pop("required", None)
        fixed = made["source"].get("value", "{")
        if "{" not in fixed:  # no event has a source that is no URI-reference
            made["source"]["value"] = quote(fixed, safe="/:")
    if draw(st.booleans()):
        made["subject"] = draw(properties(("string", "uritemplate", "integer")))
    if draw(st.booleans()):
        made["time"] = draw(properties(("timestamp",)))
    for name in draw(st.lists(st.sampled_from(["level", "traceid", "x9", "partitionkey"]), unique=True, max_size=3)):
        made[name] = draw(properties())
    return made


def named(name_pool: tuple[str, ...], *, as_map: bool) -> st.SearchStrategy[Any]:
    chosen = st.lists(
        st.tuples(st.sampled_from(name_pool), properties(("string", "integer", "uritemplate"))),
        unique_by=lambda pair: str(pair[0]).lower(),
        max_size=3,
    )
    if as_map:
        return chosen.map(dict)
    return chosen.map(lambda pairs: [{"name": name, **value} for name, value in pairs])


codings = st.sampled_from(["gzip", "GZIP", "deflate", "zstd", "br", "identity", "gzip, deflate"])
text = properties(("string", "uritemplate"))
HEADERS = ("X-Trace", "kind", "tenant-id")
SECTIONS = st.dictionaries(st.sampled_from(["x-opt-a", "Kind", "n"]), properties(), max_size=3)
OPTIONS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "HTTP": {
        "path": text,
        "method": st.sampled_from(["POST", {"value": "PUT"}]),
        "query": named(HEADERS, as_map=True) | named(HEADERS, as_map=False),
        "headers": named((*HEADERS, "Content-Type-X"), as_map=False),
    },
    "AMQP": {
        "properties": st.fixed_dictionaries(
            {},
            optional={
                "message-id": text,
                "user-id": properties(("binary",)),
                "to": text,
                "subject": text,
                "correlation-id": text,
                "absolute-expiry-time": properties(("timestamp",)),
                "creation-time": properties(("timestamp",)),
                "group-sequence": properties(("integer",)),
                "content-encoding": codings.map(lambda coding: {"type": "symbol", "value": coding}),
            },
        ),
        "application-properties": SECTIONS,
        "message-annotations": SECTIONS,
        "footer": SECTIONS,
        "header": st.just({"durable": {"type": "boolean", "value": True}, "ttl": {"type": "integer"}}),
    },
    "MQTT/3.1.1": {"topic_name": text, "qos": st.integers(0, 2), "retain": st.booleans()},
    "MQTT/5.0": {
        "topic_name": text,
        "qos": properties(("integer",)),
        "payload_format": st.integers(0, 1),
        "message_expiry_interval": st.integers(0, 99),
        "response_topic": text,
        "correlation_data": properties(("binary",)),
        "user_properties": named(HEADERS, as_map=False),
    },
    "KAFKA": {
        "topic": text,
        "partition": st.integers(0, 9),
        "key": text | st.just("{vin}"),
        "key_base64": properties(("binary",)),
        "headers": named(HEADERS, as_map=True) | named(HEADERS, as_map=False),
    },
    "NATS": {"subject": text, "reply-to": text, "headers": named(HEADERS, as_map=False)},
    "PIGEON/2": {"coop": text, "ring": properties(("any", "integer"))},
}


@st.composite
def messages(draw: st.DrawFn) -> Tree:
    """One definition, without its place in a catalog."""
    made: Tree = declared(draw(st.sampled_from([None, *SCHEMAS])))
    protocol = draw(st.sampled_from(["", *PROTOCOLS]))
    if protocol:
        optional = OPTIONS[next(name for name in OPTIONS if protocol.startswith(name))]
        made |= {"protocol": protocol, "protocoloptions": draw(st.fixed_dictionaries({}, optional=optional))}
    if not protocol or draw(st.booleans()):
        made |= {"envelope": "CloudEvents/1.0", "envelopemetadata": draw(attributes())}
        made["envelopemetadata"]["type"] = {"value": "com.example." + draw(words)}
        mode = draw(st.sampled_from(["", "binary", "structured"]))
        if mode:
            made["envelopeoptions"] = {"mode": mode}
        if mode == "structured" and draw(st.booleans()):
            made["datacontenttype"] = "application/cloudevents+json"
    elif draw(st.integers(0, 3)) == 0:
        made |= {"envelope": "Acme/2.0", "envelopemetadata": {"acme": draw(properties(("string",)))}}
    if made.get("envelopeoptions", {}).get("mode") != "structured":
        draw(content_types(made))
    return made


@st.composite
def content_types(draw: st.DrawFn, made: Tree) -> None:
    """Say the content type of a definition with a parameter, in its protocol, or in both; and say an encoding."""
    stated = made.get("datacontenttype")
    protocol = made.get("protocol", "")
    if stated and draw(st.booleans()):
        made["datacontenttype"] = stated = f"{stated}; charset=utf-8"
    headers = made.get("protocoloptions", {}).get("headers") if protocol in ("HTTP", "KAFKA", "NATS") else None
    if not isinstance(headers, list):
        return
    if draw(st.booleans()):
        headers.append({"name": "Content-Type", "value": stated or "application/json"})
    if draw(st.booleans()):
        headers.append({"name": "Content-Encoding", "value": draw(codings)})


@st.composite
def catalogs(draw: st.DrawFn, *, with_rivals: bool = False) -> Tree:
    """A catalog with one definition `m`, sometimes derived, step by step, from bases that say part of it, and sometimes
    beside another one that takes what it takes, and more."""
    message = draw(messages())
    group: Tree = {"m": message}
    rival = draw(rivals(message)) if with_rivals and draw(st.integers(0, 3)) == 0 else None
    for step in range(draw(st.integers(0, 2)) if "envelopemetadata" in message else 0):
        base = {name: message.pop(name) for name in ("dataschemaformat", "dataschema", "protocol") if name in message}
        inherited = message["envelopemetadata"]
        moved = {name: inherited.pop(name) for name in list(inherited)[:1] if name not in ("type", "acme")}
        base |= {"envelope": message["envelope"], "envelopemetadata": moved}
        message["basemessage"] = f"{BASE}{step}"
        group[f"base{step}"] = message = base
    if rival is not None:
        group["rival"] = rival
    return {"messagegroups": {"g": {"messages": group}}, "schemagroups": GROUPS}


@st.composite
def rivals(draw: st.DrawFn, message: Tree) -> Tree:
    """A definition like another one that leaves open some of what the other one fixes."""
    made = copy.deepcopy(message)
    sections = [made.get("envelopemetadata", {}), made.get("protocoloptions", {})]
    for section in sections:
        for name, value in section.items():
            is_fixed = isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("value"), str))
            if is_fixed and draw(st.booleans()):
                section[name] = {"type": "uritemplate", "value": draw(st.sampled_from(["{rest}", f"{{{name}}}"]))}
    return made
