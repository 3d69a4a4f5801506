"""Rules of the messaging model that a model cannot express: aliases, inherited values, words of `usage`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.messages.definitions.endpoint_option_rules import credentials, option_violations
from postroom.messages.definitions.inheritance import unwrapped
from postroom.model.conform import AttributeViolation
from postroom.model.types import GroupType, ResourceType
from postroom.protocols.protocol_table import canonical_protocol

Body = dict[str, Any]

USAGES = ("subscriber", "consumer", "producer")
PAIR = ["consumer", "subscriber"]
PAIRED = frozenset({"mqtt/3.1.1", "mqtt/5.0", "mqtt", "amqp/1.0", "amqp", "nats"})
NOT_EMPTY = ("envelope", "protocol", "channel")
BASE_ALIASES = ("basemessageuri", "basemessageurl")  # C-01
_DOCUMENTS = ("schema", "schemabase64", "schemaurl", "schemaproxyurl")


def read_endpoint(entity_type: GroupType, body: Body) -> tuple[Body, list[AttributeViolation]]:
    """An endpoint as written, with what older texts call differently under today's names."""
    body = _read_deprecated(body)
    if isinstance(body.get("usage"), str):  # rc2 and older: one word instead of a list
        body = {**body, "usage": [body["usage"]]}
    return body, []


def read_version(entity_type: ResourceType, body: Body) -> tuple[Body, list[AttributeViolation]]:
    """A Version as written, of a message or of a schema, with what others call differently under today's names."""
    if entity_type.singular == "schema" and entity_type.hasdocument and "schemauri" not in entity_type.attributes:
        return read_schema_address(body), []
    return read_message(entity_type, body)


def read_schema_address(body: Body) -> Body:
    """A schema with the address of its document in `schemaurl`, which samples and code generators call `schemauri`.

    Beside a document it is no address of one, and stays what it is.
    """
    if body.get("schemauri") is None or any(body.get(name) is not None for name in _DOCUMENTS):
        return body
    return {"schemaurl" if name == "schemauri" else name: value for name, value in body.items() if name != "schemaurl"}


def read_message(entity_type: ResourceType, body: Body) -> tuple[Body, list[AttributeViolation]]:
    """A Version as written, with the aliases of `basemessage` read as it (C-01), its attributes not nested (C-03)."""
    violations = []
    for alias in BASE_ALIASES if "basemessage" in entity_type.attributes else ():
        if alias in entity_type.attributes or alias not in body:
            continue
        value = body[alias]
        if body.get("basemessage", value) != value:
            violations.append(AttributeViolation("invalid", (alias,), "differs from basemessage"))
        body = {"basemessage": value, **{name: given for name, given in body.items() if name != alias}}
    metadata = body.get("envelopemetadata")
    if isinstance(metadata, dict) and "envelope" in entity_type.attributes:
        body = {**body, "envelopemetadata": unwrapped(metadata)}
    return body, violations


def check_endpoint(entity_type: GroupType, endpoint: Body) -> Iterator[AttributeViolation]:
    """What makes the registry refuse an endpoint: a `usage` that says nothing, and credentials."""
    usage = endpoint.get("usage")
    if isinstance(usage, list) and (not usage or any(word not in USAGES for word in usage)):
        yield AttributeViolation("invalid", ("usage",), f"must hold some of: {', '.join(USAGES)}")
    yield from credentials(endpoint)


def messagegroup_advice(group: Body) -> Iterator[AttributeViolation]:
    """What the text asks of a group of messages and no model can say."""
    for name in NOT_EMPTY:
        if group.get(name) == "":
            yield AttributeViolation("invalid", (name,), "must not be empty")


def endpoint_advice(endpoint: Body) -> Iterator[AttributeViolation]:
    """What the text asks of an endpoint and no model can say: "a Registry server is not obligated to check"."""
    yield from messagegroup_advice(endpoint)
    yield from _usage_combined(endpoint)
    envelope = endpoint.get("envelope")
    if isinstance(envelope, str) and envelope and not all(envelope.split("/", 1)):
        yield AttributeViolation("invalid", ("envelope",), "must be NAME or NAME/VERSION")
    options = endpoint.get("envelopeoptions")
    mode = str(options.get("mode")).casefold() if isinstance(options, dict) else ""
    if isinstance(options, dict) and mode == "binary" and options.get("format") is not None:
        yield AttributeViolation("invalid", ("envelopeoptions", "format"), "is for the structured mode only")
    yield from option_violations(endpoint)


def check_message(endpoint: Body, message: Body) -> Iterator[AttributeViolation]:
    """A message has the envelope and protocol of its endpoint; what it leaves out, it inherits."""
    for name, agrees in (("envelope", _is_as_precise), ("protocol", _is_same_protocol)):
        wanted, given = endpoint.get(name), message.get(name)
        if isinstance(wanted, str) and isinstance(given, str) and not agrees(given, wanted):
            yield AttributeViolation("invalid", (name,), f"{name} is {given}, that of the endpoint is {wanted}")


def _is_as_precise(given: str, wanted: str) -> bool:
    """endpoint, `envelope`: the same, or the same with a version that the endpoint leaves open (C-07)."""
    given, wanted = given.casefold(), wanted.casefold()
    return given == wanted or given.startswith(wanted + ("." if "/" in wanted else "/"))


def _is_same_protocol(given: str, wanted: str) -> bool:
    """endpoint, `protocol`: the same in any spelling; a message without one has that of the endpoint (C-40)."""
    return canonical_protocol(given) in ("", canonical_protocol(wanted)) or not canonical_protocol(wanted)


def _usage_combined(endpoint: Body) -> Iterator[AttributeViolation]:
    """endpoint, `usage`: one word, or these two where one connection subscribes and receives."""
    usage = endpoint.get("usage")
    words = [word for word in usage if isinstance(word, str)] if isinstance(usage, list) else []
    is_paired = sorted(words) == PAIR and str(endpoint.get("protocol", "")).casefold() in PAIRED
    if len(words) > 1 and not is_paired:
        detail = "must be one word; subscriber with consumer only for MQTT, AMQP and NATS"
        yield AttributeViolation("invalid", ("usage",), detail)


def _read_deprecated(body: Body) -> Body:
    deprecated = body.get("deprecated")
    if isinstance(deprecated, dict) and "docs" in deprecated:  # C-34
        link = deprecated["docs"]
        rest = {name: value for name, value in deprecated.items() if name != "docs"}
        return {**body, "deprecated": {"documentation": link, **rest}}
    return body
