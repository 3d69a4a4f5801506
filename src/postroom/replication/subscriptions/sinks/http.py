"""HTTP sinks: web hooks with their handshake, signed, without redirects (HTTP 1.1 Web Hooks for Event Delivery)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec

from postroom.outbound.policy import OutboundResponse
from postroom.protocols.protocol import pairs
from postroom.protocols.records import JSON_EVENT
from postroom.replication.subscriptions.sinks.allowed_addresses import SinkAddress, delivery_failures, open_client
from postroom.replication.subscriptions.sinks.authorization import Authorization, SaveCredential
from postroom.replication.subscriptions.sinks.options import HttpOptions
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed, Event, Permission, record_of
from postroom.replication.subscriptions.subscription import Subscription, is_taken
from postroom.settings import Settings
from postroom.urls import parse_url
from postroom.version import VERSION

HOPELESS = frozenset({400, 405, 406, 411, 413, 414, 415, 422, 431, 501})
"""Answers that the same request would get again."""
LONGEST_WAIT = 24 * 3600.0
ANY = "*"
_BASE64_PREFIX = "whsec_"


class HttpSink:
    """One web hook. Its connection is kept between events."""

    def __init__(
        self, subscription: Subscription, target: SinkAddress, settings: Settings, keep: SaveCredential
    ) -> None:
        self._options = options = msgspec.convert(subscription.protocolsettings, HttpOptions)
        self._target = target
        self._url = target.url
        self._settings = settings
        self._origin = settings.webhook_origin or _host(subscription.base) or "localhost"
        self._authorization = Authorization(subscription.sinkcredential, settings, keep)
        self._key = _signing_key(settings.webhook_secret) if settings.webhook_secret else b""
        self._id = subscription.id
        self._fixed = {
            # The settings may have changed since the subscription was made.
            **{name: value for name, value in options.headers.items() if not is_taken(name, settings)},
            "User-Agent": f"postroom/{VERSION}",
            "WebHook-Request-Origin": self._origin,
        }
        self._client = open_client(target, settings)

    def confirm(self, callback: str) -> Permission:
        """The validation handshake: consent is in the headers of the answer, never in its status (WH 4)."""
        if not self._settings.sink_handshake:
            return Permission()
        asked = {"WebHook-Request-Origin": self._origin, "WebHook-Request-Callback": callback}
        reply = self._exchange("OPTIONS", {**self._fixed, **asked}, None)
        if reply.status == http.HTTPStatus.GONE:
            raise DeliveryFailed(f"{self._target.host} answers 410 Gone", "gone")
        allowed = reply.headers.get("webhook-allowed-origin", "").strip()
        if allowed != ANY and allowed.lower() != self._origin.lower():
            raise DeliveryFailed(f"{self._target.host} does not allow events from {self._origin}")
        return Permission(parse_rate(reply.headers.get("webhook-allowed-rate", ANY)))

    def send(self, event: Event) -> None:
        """Send one event; whatever is no success is a failure of some kind."""
        headers, body = self._rendered(event)
        if self._key:
            # A change may give two events, of xRegistry and of the message catalog, with one id.
            message_id = f"{self._id}.{event['id']}.{event['type']}"
            headers |= _signature_headers(self._key, message_id, int(time.time()), body)
        reply = self._exchange(self._options.method, headers, body)
        if not 200 <= reply.status < 300:
            raise _failure(reply, self._target.host)

    def rest(self) -> None:
        """The connection may stay: the sink closes it when it likes."""

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _rendered(self, event: Event) -> tuple[dict[str, str], bytes]:
        if self._options.mode == "structured":
            return {**self._fixed, "Content-Type": JSON_EVENT}, msgspec.json.encode(event)
        record = record_of(event, "HTTP", {}, self._options.mode)
        return {**self._fixed, **dict(pairs(record.metadata["headers"]))}, record.payload

    def _exchange(self, method: str, headers: dict[str, str], body: bytes | None) -> OutboundResponse:
        sent = {**headers, **self._authorization.header()}
        with delivery_failures(self._target.host, self._settings):
            return self._client.request(method, self._url, headers=sent, content=body)


def _host(base: str) -> str:
    parts = parse_url(base)
    return parts.host if parts is not None else ""


def parse_rate(text: str) -> int:
    """How many requests a minute a sink allows; 0 for any number."""
    text = text.strip()
    if text == ANY:
        return 0
    if not text.isascii() or not text.isdecimal() or int(text[:10]) == 0:
        raise DeliveryFailed("the sink allows a rate that is neither `*` nor a number greater than zero")
    return int(text[:10])


def _failure(reply: OutboundResponse, host: str) -> DeliveryFailed:
    """What a status that is no success means; the body is not repeated, it may hold anything."""
    sentence = f"{host} answers {reply.status} {_phrase(reply.status)}".rstrip()
    if reply.status == http.HTTPStatus.GONE:
        return DeliveryFailed(sentence, "gone")
    if 300 <= reply.status < 400:
        return DeliveryFailed(f"{sentence}; redirects are not followed", "refused")
    if reply.status in HOPELESS:
        return DeliveryFailed(sentence, "refused")
    return DeliveryFailed(sentence, after=retry_after(reply.headers.get("retry-after", "")))


def retry_after(text: str) -> float:
    """The seconds that Retry-After asks for, as a number or as a date; 0 when it says nothing that can be read."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return min(float(text[:10]), LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max(0.0, (moment - datetime.now(UTC)).total_seconds()), LONGEST_WAIT)


def _phrase(status: int) -> str:
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return ""


def _signing_key(secret: str) -> bytes:
    """The key that a secret stands for: base64 behind `whsec_`, else the string itself."""
    if secret.startswith(_BASE64_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(_BASE64_PREFIX), validate=True)
        except binascii.Error:
            pass  # then it is a string like any other
    return secret.encode()


def _signature_headers(key: bytes, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The headers of Standard Webhooks that sign a body: HMAC-SHA256 over id, time and body, joined by dots."""
    signed = b"%b.%d.%b" % (message_id.encode(), seconds, body)
    digest = hmac.digest(key, signed, hashlib.sha256)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }
