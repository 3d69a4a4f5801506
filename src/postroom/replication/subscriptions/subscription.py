"""A subscription: which events somebody wants, and where they go (CloudEvents Subscriptions API 3.2.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec

from postroom.outbound.policy import port_of
from postroom.replication.subscriptions.credentials import (
    ENVIRONMENT,
    SECRETS,
    SINK_VARIABLES,
    Credential,
    PlainCredential,
    RefreshToken,
    completed,
    shown,
)
from postroom.replication.subscriptions.filters import Filter, FilterRefused, parse_filters
from postroom.replication.subscriptions.sinks.allowed_addresses import SinkAddress, SinkRefused, parse_sink
from postroom.replication.subscriptions.sinks.options import ALIASES, PROTOCOLS, HttpOptions
from postroom.settings import HIDDEN, Settings
from postroom.urls import join_url, parse_url

MEMBERS = ("id", "source", "types", "config", "filters", "sink", "sinkcredential", "protocol", "protocolsettings")
SHOWN = (*MEMBERS, "owner")
CONFIG = ("after",)
CATALOG = "/messagecatalog"
TOKEN_PROTOCOLS = frozenset({"HTTP"})
MOST_TYPES = 200
HEADERS = "headers"
LONGEST = 4096

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
# What the delivery writes itself, what concerns the connection, and what has a place of its own, sinkcredential.
_TAKEN_HEADERS = re.compile(
    r"(host|connection|content-length|content-type|content-encoding|transfer-encoding|te|upgrade|expect|trailer|cookie"
    r"|authorization|forwarded|x-forwarded-.*|x-real-ip|proxy-.*|webhook-.*|ce-.*)\Z"
)


class SubscriptionRefused(ValueError):
    """A subscription that cannot be had: where the trouble is (a JSON pointer), and a sentence."""

    def __init__(self, pointer: str, sentence: str) -> None:
        super().__init__(f"{pointer or '/'}: {sentence}")
        self.pointer = pointer
        self.sentence = sentence


class Subscription(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a client asked for, in the Subscriptions API's own form; `base` is the root that its events come from."""

    id: str
    source: str = ""
    types: tuple[str, ...] = ()
    config: dict[str, Any] = {}
    filters: list[Any] = []
    sink: str
    sinkcredential: Credential | None = None
    protocol: str
    protocolsettings: dict[str, Any] = {}
    base: str = ""
    owner: str = ""
    """The principal who made it, and whose permissions its events are held to; empty where access was off."""

    def target(self, settings: Settings) -> SinkAddress:
        """Where its events go; SinkRefused when the settings do not allow it any more."""
        return parse_sink(self.sink, self.protocol, settings)

    def wanted(self) -> Filter:
        """The test that an event must pass."""
        passes, types = parse_filters(self.filters), frozenset(self.types)
        has_source = not self.source or bool(source_of(self.source, self.base))

        def wants(event: Mapping[str, Any]) -> bool:
            return has_source and (not types or event["type"] in types) and passes(event)

        return wants

    @property
    def catalog(self) -> str:
        """The root of the message catalog, if its events alone are wanted; they have it as their source then."""
        found = source_of(self.source, self.base) if self.source else ""
        return found if found.endswith(CATALOG) else ""

    def shown(self) -> dict[str, Any]:
        """The subscription as clients see it: nothing empty, nothing secret."""
        made = {name: getattr(self, name) for name in SHOWN if getattr(self, name)}
        if self.types:
            made["types"] = list(self.types)
        if HEADERS in self.protocolsettings:
            hidden = dict.fromkeys(self.protocolsettings[HEADERS], HIDDEN)
            made["protocolsettings"] = {**self.protocolsettings, HEADERS: hidden}
        return made if self.sinkcredential is None else {**made, "sinkcredential": shown(self.sinkcredential)}


def parse_subscription(
    given: Any, subscription_id: str, base: str, settings: Settings, before: Subscription | None = None
) -> Subscription:
    """A client's document as a subscription; SubscriptionRefused says what is wrong with it.

    The older shape is read too (one `filter`, protocol `HTTPS`). An `id` in it means nothing, and secrets that it
    leaves out, or has as they are shown, are those of the subscription before, as long as they go to the same sink.
    """
    if not isinstance(given, dict):
        _refuse("", "a subscription is an object")
    given = _normalised(given)
    protocol = given.get("protocol")
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        _refuse("/protocol", f"this is one of {', '.join(PROTOCOLS)}, or HTTPS for HTTP, spelled like that")
    sink = given.get("sink")
    if not isinstance(sink, str) or len(sink) > LONGEST:
        _refuse("/sink", "this is the URI that events are delivered to")
    kept = before if before is not None and before.sink == sink else None
    made = Subscription(
        id=subscription_id,
        source=_source(given.get("source"), base),
        types=_types(given.get("types")),
        config=_config(given.get("config")),
        filters=_filters(given.get("filters")),
        sink=sink,
        sinkcredential=_credential(given.get("sinkcredential"), protocol, kept.sinkcredential if kept else None),
        protocol=protocol,
        protocolsettings=_settings(
            given.get("protocolsettings"), protocol, kept.protocolsettings if kept else {}, settings
        ),
        base=base,
        owner=before.owner if before is not None else "",
    )
    _check_targets(made, settings)
    return made


def _normalised(given: dict[str, Any]) -> dict[str, Any]:
    made = {name: value for name, value in given.items() if value is not None and name != "owner"}
    if "filter" in made:
        if "filters" in made:
            _refuse("/filter", "there is `filters` already")
        made["filters"] = [made.pop("filter")]
    if made.get("protocol") == "HTTPS":
        made["protocol"] = "HTTP"
    unknown = next((name for name in made if name not in MEMBERS), None)
    if unknown is not None:
        _refuse("", f"a subscription has no member {unknown[:80]!r}")
    return made


def source_of(given: str, base: str) -> str:
    """The source of events that is meant: the root of the registry or of its message catalog; empty: neither is."""
    wanted = _comparable(join_url(f"{base}/", given) or "")
    roots = (base, base + CATALOG, f"{base}/-{CATALOG}")
    return next((root for root in roots if _comparable(root) == wanted), "")


def _comparable(url: str) -> tuple[Any, ...] | None:
    parts = parse_url(url)
    return (parts.scheme.lower(), parts.host.lower(), port_of(parts), parts.path.rstrip("/")) if parts else None


def _source(given: Any, base: str) -> str:
    if given is None:
        return ""
    if not isinstance(given, str) or not given or len(given) > LONGEST or not given.isprintable() or " " in given:
        _refuse("/source", "this is a URI reference that is not empty")
    if not source_of(given, base):
        _refuse("/source", f"no event has the source {given[:200]}; those here have {base} or {base}{CATALOG}")
    return given


def _types(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(kind, str) and kind for kind in given):
        _refuse("/types", "these are types of events, each a text that is not empty")
    if len(given) > MOST_TYPES:
        _refuse("/types", f"{MOST_TYPES} types are the most")
    return tuple(given)


def _config(given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(
        name in CONFIG and isinstance(value, str) for name, value in given.items()
    ):
        _refuse("/config", "this takes `after` alone, a cursor of the change log to begin behind")
    return given


def _filters(given: Any) -> list[Any]:
    if given is None:
        return []
    try:
        parse_filters(given)
    except FilterRefused as refusal:
        _refuse(refusal.pointer, refusal.sentence)
    filters: list[Any] = given
    return filters


def _settings(given: Any, protocol: str, before: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The protocol's settings with their defaults, and with the header values that were there before."""
    pointer = "/protocolsettings"
    if given is not None and not isinstance(given, dict):
        _refuse(pointer, "this is an object")
    named = {ALIASES.get(name, name): value for name, value in (given or {}).items()}
    if isinstance(named.get("acks"), int):
        named["acks"] = str(named["acks"])
    try:
        options = msgspec.convert(named, PROTOCOLS[protocol].options)
    except msgspec.ValidationError as error:
        _refuse(pointer, _sentence(error))
    if isinstance(options, HttpOptions):
        headers = _unhidden(options.headers, before.get(HEADERS, {}))
        _check_headers(headers, settings)
        options = msgspec.structs.replace(options, headers=headers)
    made: dict[str, Any] = msgspec.to_builtins(options)
    return {name: value for name, value in made.items() if value != {}}


def _unhidden(headers: dict[str, str], before: dict[str, str]) -> dict[str, str]:
    """Headers with the values that a client has not seen; none of them can look like what stands for it."""
    known = {name.lower(): value for name, value in before.items()}
    unknown = next((name for name, value in headers.items() if value == HIDDEN and name.lower() not in known), None)
    if unknown is not None:
        sentence = f"{HIDDEN} stands for a value that is not shown, and for this sink there is none of {unknown[:80]!r}"
        _refuse("/protocolsettings/headers", sentence)
    return {name: known[name.lower()] if value == HIDDEN else value for name, value in headers.items()}


def _check_headers(headers: dict[str, str], settings: Settings) -> None:
    pointer = "/protocolsettings/headers"
    for name, value in headers.items():
        if not _HEADER.match(name) or not value.isascii() or not value.isprintable():
            _refuse(pointer, f"{name[:80]!r} is no header with a printable value")
        if is_taken(name, settings):
            _refuse(pointer, f"{name[:80]} is not for protocolsettings; what is secret belongs into sinkcredential")


def is_taken(name: str, settings: Settings) -> bool:
    """Whether a header is not for subscribers: ours, or one by which proxies speak. A sink may be a service that trusts
    the address of this one, or this one itself.
    """
    return bool(_TAKEN_HEADERS.match(name.lower())) or name.lower() == settings.actor_header.lower()


def _credential(given: Any, protocol: str, before: Credential | None) -> Credential | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        _refuse("/sinkcredential", "this is an object")
    try:
        credential: Credential = msgspec.convert(completed(given, before), Credential)
    except msgspec.ValidationError as error:
        _refuse("/sinkcredential", _sentence(error))
    for name in SECRETS:
        secret = getattr(credential, name, "")
        if secret.startswith(ENVIRONMENT) and (name == "refreshtoken" or not secret.startswith(SINK_VARIABLES)):
            _refuse(f"/sinkcredential/{name}", f"a secret or access token may be a reference, {SINK_VARIABLES}NAME")
    if not isinstance(credential, PlainCredential):
        if protocol not in TOKEN_PROTOCOLS:
            _refuse("/sinkcredential/credentialtype", f"{protocol} takes PLAIN only")
        if not _HEADER.match(credential.accesstokentype):
            _refuse("/sinkcredential/accesstokentype", "this is the name of a scheme, as bearer is")
        if credential.accesstokenexpiresutc.tzinfo is None:
            _refuse("/sinkcredential/accesstokenexpiresutc", "this time says no zone; UTC ends with Z")
        if not (credential.accesstoken.isascii() and credential.accesstoken.isprintable()):
            _refuse("/sinkcredential/accesstoken", "a token has printable ASCII characters only")
    return credential


def _check_targets(made: Subscription, settings: Settings) -> None:
    try:
        target = made.target(settings)
    except SinkRefused as refusal:
        _refuse("/sink", str(refusal))
    if made.protocol == "KAFKA" and "topicname" not in made.protocolsettings and target.path == "/":
        _refuse("/protocolsettings", "Kafka needs a topicname, here or as the path of the sink")
    if isinstance(made.sinkcredential, RefreshToken):
        try:
            parse_sink(made.sinkcredential.refreshtokenendpoint, "HTTP", settings)
        except SinkRefused as refusal:
            _refuse("/sinkcredential/refreshtokenendpoint", str(refusal))


def _sentence(error: msgspec.ValidationError) -> str:
    """msgspec's sentence; it names members and types, never values."""
    return str(error).replace("`$.", "`").replace("$.", "")


def _refuse(pointer: str, sentence: str) -> NoReturn:
    raise SubscriptionRefused(pointer, sentence) from None
