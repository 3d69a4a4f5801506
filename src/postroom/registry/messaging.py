"""Rules of the messaging model that a model cannot express: aliases, inherited values, words of `usage`."""

from __future__ import annotations

from typing import Any

from postroom.model.types import GroupType, ResourceType
from postroom.protocols.table import canonical_protocol
from postroom.registry.composing import raise_violations
from postroom.registry.endpoint_options import option_violations
from postroom.registry.problems import RegistryProblem

# C-07, C-26: a Version without the attribute takes its group's value instead of failing the `equals` constraint.
INHERITED = frozenset(
    {"schemagroups.schemas.format", "messagegroups.messages.envelope", "messagegroups.messages.protocol"}
)
IGNORING_CASE = frozenset({"format", "envelope", "protocol", "compatibility"})  # C-55
USAGES = ("subscriber", "consumer", "producer")
PAIR = ["consumer", "subscriber"]
PAIRED = frozenset({"mqtt/3.1.1", "mqtt/5.0", "mqtt", "amqp/1.0", "amqp", "nats"})
NOT_EMPTY = {"messagegroups": ("envelope", "protocol"), "endpoints": ("envelope", "protocol", "channel")}
BASE_ALIASES = ("basemessageuri", "basemessageurl")  # C-01


def read_group(kind: GroupType, body: dict[str, Any], subject: str) -> dict[str, Any]:
    """A Group as written, with what older texts call differently under today's names."""
    if not is_endpoint(kind):
        return body
    body = _read_deprecated(body)
    usage = body.get("usage")
    if isinstance(usage, str):  # rc2 and older: one word instead of a list
        usage = body["usage"] = [usage]
    if isinstance(usage, list):
        wrong = next((word for word in usage if word not in USAGES), None)
        if wrong is not None or not usage:
            raise _invalid(subject, "usage", f"must hold some of: {', '.join(USAGES)}")
    return body


def check_group(kind: GroupType, attributes: dict[str, Any], subject: str) -> None:
    """Refuse a Group that, as it will be, breaks a rule of the messaging model."""
    for name in NOT_EMPTY.get(kind.plural, ()):
        if attributes.get(name) == "" and name in kind.attributes:
            raise _invalid(subject, name, "must not be empty")
    if not is_endpoint(kind):
        return
    _check_usage(attributes, subject)
    envelope = attributes.get("envelope")
    if isinstance(envelope, str) and not all(envelope.split("/", 1)):
        raise _invalid(subject, "envelope", "must be NAME or NAME/VERSION")
    options = attributes.get("envelopeoptions")
    if isinstance(options, dict) and options.get("mode") == "binary" and options.get("format") is not None:
        raise _invalid(subject, "envelopeoptions.format", "is for the structured mode only")
    raise_violations(list(option_violations(attributes)), subject)


def is_endpoint(kind: GroupType) -> bool:
    """Whether Groups of this type are endpoints of the messaging model."""
    return kind.plural == "endpoints" and kind.singular == "endpoint"


def check_message(kind: GroupType, group: dict[str, Any], version: dict[str, Any], subject: str) -> None:
    """Refuse a message that is not of the envelope and protocol of its endpoint; what it leaves out, it inherits."""
    if not is_endpoint(kind):
        return
    for name, agrees in (("envelope", _is_as_precise), ("protocol", _is_same_protocol)):
        wanted, given = group.get(name), version.get(name)
        if isinstance(wanted, str) and isinstance(given, str) and not agrees(given, wanted):
            raise RegistryProblem(
                "constraint_failure",
                subject,
                detail=f"{name} is {given}, that of the endpoint is {wanted}",
                pointer=f"/{name}",
                path=name,
                kind="equals",
            )


def _is_as_precise(given: str, wanted: str) -> bool:
    """endpoint, `envelope`: the same, or the same with a version that the endpoint leaves open (C-07)."""
    given, wanted = given.casefold(), wanted.casefold()
    return given == wanted or given.startswith(wanted + ("." if "/" in wanted else "/"))


def _is_same_protocol(given: str, wanted: str) -> bool:
    """endpoint, `protocol`: the same in any spelling; a message without one has that of the endpoint (C-40)."""
    return canonical_protocol(given) in ("", canonical_protocol(wanted)) or not canonical_protocol(wanted)


def _check_usage(attributes: dict[str, Any], subject: str) -> None:
    usage = attributes.get("usage")
    if not isinstance(usage, list) or len(usage) == 1:
        return
    # endpoint, `usage`: one word, or these two where one connection subscribes and receives.
    if sorted(usage) != PAIR or str(attributes.get("protocol", "")).casefold() not in PAIRED:
        raise _invalid(subject, "usage", "must be one word; subscriber with consumer only for MQTT, AMQP and NATS")


def read_version(kind: ResourceType, body: dict[str, Any], subject: str) -> dict[str, Any]:
    """A Version as written, with the aliases of `basemessage` read as it (C-01)."""
    if "basemessage" not in kind.attributes:
        return body
    for alias in BASE_ALIASES:
        if alias in kind.attributes or alias not in body:
            continue
        value = body.pop(alias)
        if body.get("basemessage", value) != value:
            raise _invalid(subject, alias, "differs from basemessage")
        body["basemessage"] = value
    return body


def _invalid(subject: str, name: str, detail: str) -> RegistryProblem:
    return RegistryProblem(
        "invalid_attribute", subject, name=name, error_detail=detail, pointer="/" + name.replace(".", "/")
    )


def _read_deprecated(body: dict[str, Any]) -> dict[str, Any]:
    deprecated = body.get("deprecated")
    if isinstance(deprecated, dict) and "docs" in deprecated:  # C-34
        link = deprecated["docs"]
        rest = {name: value for name, value in deprecated.items() if name != "docs"}
        return {**body, "deprecated": {"documentation": link, **rest}}
    return body
