"""Rules on the protocol options of endpoints that a model cannot express: one table, a row per rule.

"A Registry server is not obligated to check these rules" (endpoint, Protocol Options), and a client has to treat a
violation as an error: lint tells the author, no write is refused for one. Only credentials are kept out. Where a value
holds a placeholder, only the client that fills it in can check. What the text calls role applicability is advice, and
not checked.
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
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BOOTSTRAP = re.compile(r"(?:(?:PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL)://)?[^/?#\s,]+", re.IGNORECASE)


@dataclass(frozen=True)
class OptionValue:
    """A value, present or not, with the object it is a member of and the endpoint around it."""

    path: Path
    value: Any
    siblings: dict[str, Any]
    options: dict[str, Any]
    usage: tuple[str, ...]

    @property
    def string(self) -> str:
        """The value where it is a string, else empty: the model reports other types."""
        return self.value if isinstance(self.value, str) else ""


OptionCheck = Callable[[OptionValue], bool]


@dataclass(frozen=True)
class OptionRule:
    """What must hold for the values at a path of the options, for some protocols (none: for all)."""

    protocols: tuple[str, ...]
    path: tuple[str, ...]
    holds: OptionCheck
    detail: str


def option_violations(attributes: dict[str, Any]) -> Iterator[AttributeViolation]:
    """The rules on options that an endpoint breaks; one without options is abstract and breaks none."""
    return _violations(attributes, RULES)


def credentials(attributes: dict[str, Any]) -> Iterator[AttributeViolation]:
    """Options of an endpoint that hold a credential, which "MUST NOT be stored in endpoint metadata"."""
    return _violations(attributes, NO_CREDENTIALS)


def _violations(attributes: dict[str, Any], rules: tuple[OptionRule, ...]) -> Iterator[AttributeViolation]:
    options, protocol, usage = (attributes.get(name) for name in ("protocoloptions", "protocol", "usage"))
    if not isinstance(options, dict):
        return
    name = canonical_protocol(protocol) if isinstance(protocol, str) else ""
    roles = tuple(role for role in usage if isinstance(role, str)) if isinstance(usage, list) else ()
    for rule in rules:
        if rule.protocols and name not in rule.protocols:
            continue
        for path, value, siblings in _values_at(options, rule.path, ("protocoloptions",)):
            if not rule.holds(OptionValue(path, value, siblings, options, roles)):
                yield AttributeViolation("missing" if value is None else "invalid", path, rule.detail)


def _values_at(value: Any, path: tuple[str, ...], parent_path: Path) -> Iterator[tuple[Path, Any, dict[str, Any]]]:
    """The values at a path with their paths and parents; only its last name may be missing."""
    if not path:
        return
    name, *rest = path
    if name == ANY_ITEM and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values_at(item, tuple(rest), (*parent_path, index))
    elif name == ANY_ITEM and isinstance(value, dict):
        for key, member in value.items():
            yield (*parent_path, key), member, value
    elif isinstance(value, dict) and not rest:
        yield (*parent_path, name), value.get(name), value
    elif isinstance(value, dict):
        yield from _values_at(value.get(name), tuple(rest), (*parent_path, name))


def _one_of(*values: Any) -> OptionCheck:
    return lambda option: option.value is None or option.value in values or "{" in option.string


def _within(low: int, high: int) -> OptionCheck:
    return lambda option: not isinstance(option.value, int) or low <= option.value <= high


def _present(option: OptionValue) -> bool:
    return option.value is not None and option.value not in ("", [])


def _not_empty(option: OptionValue) -> bool:
    return bool(option.value != "")


def _only_beside(name: str) -> OptionCheck:
    return lambda option: option.value is None or option.siblings.get(name) is not None


def _never_beside(name: str) -> OptionCheck:
    return lambda option: option.value is None or option.siblings.get(name) is None


def _not_for(*roles: str) -> OptionCheck:
    return lambda option: option.value is None or not set(roles) & set(option.usage)


def _for(role: str, check: OptionCheck) -> OptionCheck:
    return lambda option: role not in option.usage or check(option)


def _without(*characters: str) -> OptionCheck:
    return lambda option: not any(character in option.string for character in characters)


def _no_wildcard_token(option: OptionValue) -> bool:
    return not {"*", ">"} & set(option.string.split("."))


def _scheme(*names: str) -> OptionCheck:
    """The scheme is one of these, or a placeholder."""

    def holds(option: OptionValue) -> bool:
        scheme, separator, _ = option.string.partition("://")
        return not option.string or "{" in scheme or (bool(separator) and scheme.lower() in names)

    return holds


def _uri_part(check: Callable[[re.Match[str]], bool]) -> OptionCheck:
    """A check on a part of a URI; the rule on schemes refuses what is no absolute URI."""

    def holds(option: OptionValue) -> bool:
        found = _URI.match(option.string)
        return found is None or check(found)

    return holds


def _path_only_for_mqtt(uri: re.Match[str]) -> bool:
    return uri["scheme"].lower() not in ("tcp", "ssl", "wss") or uri["path"] in ("", "/")


def _port(uri: re.Match[str]) -> bool:
    return "{" in uri["authority"] or _PORT.search(uri["authority"]) is not None


def _no_secret(uri: re.Match[str]) -> bool:
    found = _SECRET.match(uri["authority"])
    return found is None or "{" in found["secret"]


def _token(option: OptionValue) -> bool:
    """The name of a method or a header (RFC 9110, 5.6.2), or one that a client completes."""
    return not isinstance(option.value, str) or "{" in option.value or _TOKEN.fullmatch(option.value) is not None


def _strings_by_name(option: OptionValue) -> bool:
    """A member of a map whose names and values are strings that are not empty."""
    return option.path[-1] != "" and option.value != ""


def _brokers(option: OptionValue) -> bool:
    """Addresses as Kafka's own settings have them, also where they stand as the `uri` of 0.5."""
    given = option.value if isinstance(option.value, list) else [option.value]
    brokers = (one.strip() for some in given if isinstance(some, str) and some for one in some.split(","))
    return all("{" in one or _BOOTSTRAP.fullmatch(one) is not None for one in brokers)


def _broker_address(option: OptionValue) -> bool:
    return _present(option) or bool(option.siblings.get("uri"))  # C-35


def _mechanism_of_sasl(option: OptionValue) -> bool:
    return option.value is None or str(option.siblings.get("type", "")).casefold() == "sasl"


def _carriers(option: OptionValue) -> set[str]:
    return {str(option.options[name]).casefold() for name in CARRIERS if option.options.get(name)}


def _no_credential_header(option: OptionValue) -> bool:
    name = str(option.siblings.get("name", "")).casefold()
    return _is_open(option) or name not in SECRET_HEADERS | _carriers(option)


def _no_credential_parameter(option: OptionValue) -> bool:
    return _is_open(option) or str(option.path[-1]).casefold() not in _carriers(option)


def _no_credential_member(option: OptionValue) -> bool:
    name = str(option.path[-1]).casefold().replace("-", "").replace("_", "")
    return _is_open(option) or name not in SECRETS


def _is_open(option: OptionValue) -> bool:
    """Whether a string is left to the client to fill in."""
    return not option.string or "{" in option.string


_ADDRESS = ("endpoints", ANY_ITEM, "uri")
_GRANT = ("authorization", ANY_ITEM)
_KEPT_OUT = "must not hold a credential; clients get it elsewhere"
_NO_BROKER = "must be host:port, with or without PLAINTEXT://, SSL://, SASL_PLAINTEXT:// or SASL_SSL://"
_EMPTY = "must not be empty"
_EMPTY_IN_MAP = "must not have an empty name or value"

NO_CREDENTIALS: tuple[OptionRule, ...] = (
    OptionRule((), _ADDRESS, _uri_part(_no_secret), _KEPT_OUT),
    OptionRule((), (*_GRANT, ANY_ITEM), _no_credential_member, _KEPT_OUT),
    OptionRule(("HTTP",), ("headers", ANY_ITEM, "value"), _no_credential_header, _KEPT_OUT),
    OptionRule(("HTTP",), ("query", ANY_ITEM), _no_credential_parameter, _KEPT_OUT),
)
RULES: tuple[OptionRule, ...] = (
    # protocoloptions.endpoints, protocoloptions.authorization
    OptionRule(BY_URI, _ADDRESS, _present, "must be there"),
    OptionRule(("KAFKA",), ("endpoints", ANY_ITEM, "bootstrap.servers"), _broker_address, _EMPTY),
    OptionRule((), (*_GRANT, "type"), _not_empty, _EMPTY),
    OptionRule((), (*_GRANT, "mechanism"), _not_empty, _EMPTY),
    OptionRule((), (*_GRANT, "mechanism"), _mechanism_of_sasl, "is for the type SASL only"),
    OptionRule((), (*_GRANT, "resourceuri"), _not_empty, _EMPTY),
    OptionRule((), (*_GRANT, "authorityuri"), _not_empty, _EMPTY),
    # HTTP options
    OptionRule(("HTTP",), _ADDRESS, _scheme("http", "https"), "must begin with http:// or https://"),
    OptionRule(("HTTP",), ("method",), _token, "must be the name of an HTTP method"),
    OptionRule(("HTTP",), ("headers", ANY_ITEM, "name"), _token, "must be the name of an HTTP header"),
    OptionRule(("HTTP",), ("headers", ANY_ITEM, "value"), _not_empty, _EMPTY),
    OptionRule(("HTTP",), ("query", ANY_ITEM), _strings_by_name, _EMPTY_IN_MAP),
    OptionRule(("HTTP",), ("apikeyin",), _one_of("header", "query"), "must be one of: header, query"),
    OptionRule(("HTTP",), ("plainscheme",), _one_of("basic", "form", "query"), "must be one of: basic, form, query"),
    # AMQP options
    OptionRule(("AMQP/1.0",), _ADDRESS, _scheme("amqp", "amqps"), "must begin with amqp:// or amqps://"),
    OptionRule(("AMQP/1.0",), ("link-properties", ANY_ITEM), _strings_by_name, _EMPTY_IN_MAP),
    OptionRule(("AMQP/1.0",), ("connection-properties", ANY_ITEM), _strings_by_name, _EMPTY_IN_MAP),
    # MQTT options
    OptionRule(
        MQTT,
        _ADDRESS,
        _scheme("mqtt", "mqtts", "tcp", "ssl", "wss"),
        "must begin with mqtt:// or mqtts:// (or tcp://, ssl://, wss://)",
    ),
    OptionRule(MQTT, _ADDRESS, _uri_part(_path_only_for_mqtt), "has a path, which only mqtt:// and mqtts:// may have"),
    OptionRule(MQTT, _ADDRESS, _uri_part(lambda uri: "+" not in uri["path"]), "has a path that is no topic name"),
    # A topic is what producers publish to; real catalogs have filters there for consumers, which no text gives a
    # meaning, so those are kept as they are (EP-023).
    OptionRule(MQTT, ("topic",), _for("producer", _without("+", "#")), "must not have the wildcards + and #"),
    OptionRule(MQTT, ("topic",), _never_beside("topicfilter"), "must not be there with topicfilter"),
    OptionRule(("MQTT/5.0",), ("sessionexpiryinterval",), _within(0, 2**32 - 1), "must be from 0 to 4294967295"),
    OptionRule(MQTT, ("sharedsubscriptiongroup",), _only_beside("topicfilter"), "is for use with topicfilter only"),
    OptionRule(MQTT, ("sharedsubscriptiongroup",), _without("/"), "must be the bare name of the group, without /"),
    OptionRule(MQTT, ("willtopic",), _not_empty, _EMPTY),
    OptionRule(MQTT, ("willmessage",), _not_empty, _EMPTY),
    # KAFKA options
    OptionRule(("KAFKA",), _ADDRESS, _brokers, _NO_BROKER),
    OptionRule(("KAFKA",), ("endpoints", ANY_ITEM, "bootstrap.servers"), _brokers, _NO_BROKER),
    OptionRule(("KAFKA",), ("topic",), _not_empty, _EMPTY),
    OptionRule(("KAFKA",), ("key",), _not_empty, _EMPTY),
    OptionRule(("KAFKA",), ("acks",), _within(-1, 1), "must be -1, 0 or 1"),
    OptionRule(("KAFKA",), ("consumergroup",), _for("consumer", _not_empty), "must not be empty for a consumer"),
    OptionRule(("KAFKA",), ("consumergroup",), _not_for("subscriber"), "must not be there for a subscriber"),
    OptionRule(("KAFKA",), ("autooffsetreset",), _not_for("producer", "subscriber"), "is for consumers only"),
    OptionRule(("KAFKA",), ("enableautocommit",), _not_for("producer", "subscriber"), "is for consumers only"),
    # NATS options
    OptionRule(("NATS",), _ADDRESS, _scheme("nats", "tls", "ws"), "must begin with nats://, tls:// or ws://"),
    OptionRule(("NATS",), _ADDRESS, _uri_part(_port), "must have a port"),
    OptionRule(("NATS",), ("subject",), _no_wildcard_token, "must not have the wildcards * and >"),
    OptionRule(("NATS",), ("subject",), _never_beside("subjectfilter"), "must not be there with subjectfilter"),
    OptionRule(("NATS",), ("queuegroup",), _only_beside("subjectfilter"), "is for use with subjectfilter only"),
)
