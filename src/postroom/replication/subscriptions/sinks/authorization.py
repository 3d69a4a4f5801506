"""The Authorization header of a credential, for deliveries over HTTP."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from msgspec import Meta

from postroom.replication.subscriptions.credentials import (
    LONGEST,
    AccessToken,
    Credential,
    PlainCredential,
    RefreshToken,
    Secret,
)
from postroom.replication.subscriptions.sinks.allowed_addresses import (
    SinkRefused,
    delivery_failures,
    open_client,
    parse_sink,
)
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed
from postroom.settings import Settings

EARLY = timedelta(seconds=30)
SECONDS = 10 * 365 * 24 * 3600
"""Longest that a token is believed to be good."""


class TokenResponse(msgspec.Struct, frozen=True):
    """What an OAuth 2.0 token endpoint answers (RFC 6749 5.1)."""

    access_token: Secret
    expires_in: int = 3600
    refresh_token: Annotated[str, Meta(max_length=LONGEST)] = ""


SaveCredential = Callable[[Credential, Credential], None]
"""Stores a renewed credential instead of the one before it."""
_GRANTED = msgspec.json.Decoder(TokenResponse)


class Authorization:
    """The header for a credential; a token that has expired is had anew where that is possible, and kept."""

    def __init__(self, credential: Credential | None, settings: Settings, keep: SaveCredential) -> None:
        self._credential = credential
        self._settings = settings
        self._keep = keep

    def header(self) -> dict[str, str]:
        """The header, or DeliveryFailed when there is no valid token."""
        credential = self._credential
        if credential is None:
            return {}
        if isinstance(credential, PlainCredential):
            pair = f"{credential.identifier}:{credential.secret}".encode()
            return {"Authorization": "Basic " + base64.b64encode(pair).decode()}
        if credential.accesstokenexpiresutc < datetime.now(UTC) + EARLY:
            credential = self._renewed(credential)
        scheme = "Bearer" if credential.accesstokentype.lower() == "bearer" else credential.accesstokentype
        return {"Authorization": f"{scheme} {credential.accesstoken}"}

    def _renewed(self, credential: AccessToken | RefreshToken) -> AccessToken | RefreshToken:
        if isinstance(credential, AccessToken):
            if credential.accesstokenexpiresutc > datetime.now(UTC):
                return credential
            raise DeliveryFailed("the access token of the sink has expired", "refused")
        granted = self._ask(credential)
        renewed = msgspec.structs.replace(
            credential,
            accesstoken=granted.access_token,
            accesstokenexpiresutc=datetime.now(UTC) + timedelta(seconds=max(0, min(granted.expires_in, SECONDS))),
            refreshtoken=granted.refresh_token or credential.refreshtoken,
        )
        self._credential = renewed
        self._keep(credential, renewed)
        return renewed

    def _ask(self, credential: RefreshToken) -> TokenResponse:
        try:
            target = parse_sink(credential.refreshtokenendpoint, "HTTP", self._settings)
        except SinkRefused as refusal:
            raise DeliveryFailed(f"no token can be had: {refusal}", "refused") from None
        form = urlencode({"grant_type": "refresh_token", "refresh_token": credential.refreshtoken}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        with closing(open_client(target, self._settings)) as client, delivery_failures(target.host, self._settings):
            reply = client.request("POST", target.url, headers=headers, content=form)
        if reply.status != 200:
            verdict: Any = "refused" if reply.status in (400, 401) else "retry"
            raise DeliveryFailed(f"{target.host} gives no token, it answers {reply.status}", verdict)
        try:
            granted = _GRANTED.decode(reply.body)
        except msgspec.MsgspecError:
            raise DeliveryFailed(f"{target.host} gives no token that can be read") from None
        if not granted.access_token.isascii() or not granted.access_token.isprintable():
            raise DeliveryFailed(f"{target.host} gives no token that can be used")
        return granted
