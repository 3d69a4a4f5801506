"""Rules on the protocol options of endpoints that a model cannot express: one table, a row per rule.

The specification leaves it to a server whether it checks them (endpoint, Protocol Options), but every client has to
refuse an endpoint that breaks one, so its author hears of it here. Where a value holds a placeholder, only the client
that fills it in can judge. What the text calls role applicability is advice, and not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from postroom.model.conform import AttributeViolation, Path
from postroom.protocols.protocol_table import canonical_protocol

ANY_ITEM = "*"
MQTT = ("MQTT/3.1.1", "MQTT/5.0")
BY_URI = ("HTTP", "AMQP/1.0", *MQTT, "NATS")
SECRETS = frozenset({"password", "apikey", "secret", "clientsecret"})
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization"})
CARRIERS = ("apikeyname", "plainusernamefield", "plainpasswordfield")

_URI = re.compile(r"(?P<scheme>[a-z][a-z0-9+.\-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)", re.IGNORECASE)
_PORT = re.compile(r":\d+\Z", re.ASCII)
_SECRET = re.compile(r"[^@:]*:(?P<secret>[^@]+)@")


@dataclass(frozen=True)
class Place:
    """A value, present or not, with the object it is a member of and the endpoint around it."""

    path: Path
    value: Any
    beside: dict[str, Any]
    options: dict[str, Any]
    usage: tuple[str, ...]

    @property
    def text(self) -> str:
        """The value where it is a text; the model has spoken where it is something else."""
        return self.value if isinstance(self.value, str) else ""


Check = Callable[[Place], bool]


@dataclass(frozen=True)
class Rule:
    """What holds at a place of the options, for some protocols (none: for all)."""

    protocols: tuple[str, ...]
    path: tuple[str, ...]
    holds: Check
    detail: str


def option_violations(attributes: dict[str, Any]) -> Iterator[AttributeViolation]:
    """The rules that an endpoint breaks; one without options is abstract and breaks none."""
    options, protocol, usage = (attributes.get(name) for name in ("protocoloptions", "protocol", "usage"))
    if not isinstance(options, dict):
        return
    name = canonical_protocol(protocol) if isinstance(protocol, str) else ""
    roles = tuple(word for word in usage if isinstance(word, str)) if isinstance(usage, list) else ()
    for rule in RULES:
        if rule.protocols and name not in rule.protocols:
            continue
        for path, value, beside in _places(options, rule.path, ("protocoloptions",)):
            if not rule.holds(Place(path, value, beside, options, roles)):
                yield AttributeViolation("missing" if value is None else "invalid", path, rule.detail)


def _places(value: Any, path: tuple[str, ...], walked: Path) -> Iterator[tuple[Path, Any, dict[str, Any]]]:
    """Where a path leads; its last name may be missing, all before it have to be there."""
    if not path:
        return
    name, *rest = path
    if name == ANY_ITEM and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _places(item, tuple(rest), (*walked, number))
    elif name == ANY_ITEM and isinstance(value, dict):
        for key, member in value.items():
            yield (*walked, key), member, value
    elif isinstance(value, dict) and not rest:
        yield (*walked, name), value.get(name), value
    elif isinstance(value, dict):
        yield from _places(value.get(name), tuple(rest), (*walked, name))


def _one_of(*values: Any) -> Check:
    return lambda place: place.value is None or place.value in values or "{" in place.text


def _within(low: int, high: int) -> Check:
    return lambda place: not isinstance(place.value, int) or low <= place.value <= high


def _present(place: Place) -> bool:
    return place.value is not None and place.value not in ("", [])


def _not_empty(place: Place) -> bool:
    return bool(place.value != "")


def _only_beside(name: str) -> Check:
    return lambda place: place.value is None or place.beside.get(name) is not None


def _never_beside(name: str) -> Check:
    return lambda place: place.value is None or place.beside.get(name) is None


def _not_for(*roles: str) -> Check:
    return lambda place: place.value is None or not set(roles) & set(place.usage)


def _for(role: str, check: Check) -> Check:
    return lambda place: role not in place.usage or check(place)


def _without(*marks: str) -> Check:
    return lambda place: not any(mark in place.text for mark in marks)


def _no_wildcard_token(place: Place) -> bool:
    return not {"*", ">"} & set(place.text.split("."))


def _scheme(*names: str) -> Check:
    """The scheme is one of these, or a placeholder."""

    def holds(place: Place) -> bool:
        scheme, mark, _ = place.text.partition("://")
        return not place.text or "{" in scheme or (bool(mark) and scheme.lower() in names)

    return holds


def _uri_part(check: Callable[[re.Match[str]], bool]) -> Check:
    """A check on a part of a URI; what is no absolute URI is for the rule on schemes to refuse."""

    def holds(place: Place) -> bool:
        found = _URI.match(place.text)
        return found is None or check(found)

    return holds


def _path_only_for_mqtt(uri: re.Match[str]) -> bool:
    return uri["scheme"].lower() not in ("tcp", "ssl", "wss") or uri["path"] in ("", "/")


def _port(uri: re.Match[str]) -> bool:
    return "{" in uri["authority"] or _PORT.search(uri["authority"]) is not None


def _no_secret(uri: re.Match[str]) -> bool:
    found = _SECRET.match(uri["authority"])
    return found is None or "{" in found["secret"]


def _broker_address(place: Place) -> bool:
    return _present(place) or bool(place.beside.get("uri"))  # C-35


def _mechanism_of_sasl(place: Place) -> bool:
    return place.value is None or str(place.beside.get("type", "")).casefold() == "sasl"


def _carriers(place: Place) -> set[str]:
    return {str(place.options[name]).casefold() for name in CARRIERS if place.options.get(name)}


def _no_credential_header(place: Place) -> bool:
    name = str(place.beside.get("name", "")).casefold()
    return _is_open(place) or name not in SECRET_HEADERS | _carriers(place)


def _no_credential_parameter(place: Place) -> bool:
    return _is_open(place) or str(place.path[-1]).casefold() not in _carriers(place)


def _no_credential_member(place: Place) -> bool:
    name = str(place.path[-1]).casefold().replace("-", "").replace("_", "")
    return _is_open(place) or name not in SECRETS


def _is_open(place: Place) -> bool:
    """Whether a text is left to the client to fill in."""
    return not place.text or "{" in place.text


_ADDRESS = ("endpoints", ANY_ITEM, "uri")
_GRANT = ("authorization", ANY_ITEM)
_KEPT_OUT = "must not hold a credential; clients get it elsewhere"

RULES: tuple[Rule, ...] = (
    # protocoloptions.endpoints, protocoloptions.authorization
    Rule(BY_URI, _ADDRESS, _present, "must be there"),
    Rule(("KAFKA",), ("endpoints", ANY_ITEM, "bootstrap.servers"), _broker_address, "must not be empty"),
    Rule((), _ADDRESS, _uri_part(_no_secret), _KEPT_OUT),
    Rule((), (*_GRANT, "type"), _not_empty, "must not be empty"),
    Rule((), (*_GRANT, "mechanism"), _not_empty, "must not be empty"),
    Rule((), (*_GRANT, "mechanism"), _mechanism_of_sasl, "is for the type SASL only"),
    Rule((), (*_GRANT, "resourceuri"), _not_empty, "must not be empty"),
    Rule((), (*_GRANT, "authorityuri"), _not_empty, "must not be empty"),
    Rule((), (*_GRANT, ANY_ITEM), _no_credential_member, _KEPT_OUT),
    # HTTP options
    Rule(("HTTP",), _ADDRESS, _scheme("http", "https"), "must begin with http:// or https://"),
    Rule(("HTTP",), ("apikeyin",), _one_of("header", "query"), "must be one of: header, query"),
    Rule(("HTTP",), ("plainscheme",), _one_of("basic", "form", "query"), "must be one of: basic, form, query"),
    Rule(("HTTP",), ("headers", ANY_ITEM, "value"), _no_credential_header, _KEPT_OUT),
    Rule(("HTTP",), ("query", ANY_ITEM), _no_credential_parameter, _KEPT_OUT),
    # AMQP options
    Rule(("AMQP/1.0",), _ADDRESS, _scheme("amqp", "amqps"), "must begin with amqp:// or amqps://"),
    # MQTT options
    Rule(
        MQTT,
        _ADDRESS,
        _scheme("mqtt", "mqtts", "tcp", "ssl", "wss"),
        "must begin with mqtt:// or mqtts:// (or tcp://, ssl://, wss://)",
    ),
    Rule(MQTT, _ADDRESS, _uri_part(_path_only_for_mqtt), "has a path, which only mqtt:// and mqtts:// may have"),
    Rule(MQTT, _ADDRESS, _uri_part(lambda uri: "+" not in uri["path"]), "has a path that is no topic name"),
    # A topic is what producers publish to; real catalogs have filters there for consumers, which no text gives a
    # meaning, so those are kept as they are (EP-023).
    Rule(MQTT, ("topic",), _for("producer", _without("+", "#")), "must not have the wildcards + and #"),
    Rule(MQTT, ("topic",), _never_beside("topicfilter"), "must not be there with topicfilter"),
    Rule(("MQTT/5.0",), ("sessionexpiryinterval",), _within(0, 2**32 - 1), "must be from 0 to 4294967295"),
    Rule(MQTT, ("sharedsubscriptiongroup",), _only_beside("topicfilter"), "is for use with topicfilter only"),
    Rule(MQTT, ("sharedsubscriptiongroup",), _without("/"), "must be the bare name of the group, without /"),
    # KAFKA options
    Rule(("KAFKA",), ("acks",), _within(-1, 1), "must be -1, 0 or 1"),
    Rule(("KAFKA",), ("consumergroup",), _for("consumer", _present), "must be there for a consumer"),
    Rule(("KAFKA",), ("consumergroup",), _not_for("subscriber"), "must not be there for a subscriber"),
    Rule(("KAFKA",), ("autooffsetreset",), _not_for("producer", "subscriber"), "is for consumers only"),
    Rule(("KAFKA",), ("enableautocommit",), _not_for("producer", "subscriber"), "is for consumers only"),
    # NATS options
    Rule(("NATS",), _ADDRESS, _scheme("nats", "tls", "ws"), "must begin with nats://, tls:// or ws://"),
    Rule(("NATS",), _ADDRESS, _uri_part(_port), "must have a port"),
    Rule(("NATS",), ("subject",), _no_wildcard_token, "must not have the wildcards * and >"),
    Rule(("NATS",), ("subject",), _never_beside("subjectfilter"), "must not be there with subjectfilter"),
    Rule(("NATS",), ("queuegroup",), _only_beside("subjectfilter"), "is for use with subjectfilter only"),
)
