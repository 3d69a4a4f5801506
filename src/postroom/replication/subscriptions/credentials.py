"""Credentials of sinks (CloudEvents Subscriptions API 3.2.3): written by clients, never shown to them again."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

LONGEST = 16_384
Secret = Annotated[str, Meta(min_length=1, max_length=LONGEST)]
Word = Annotated[str, Meta(min_length=1, max_length=LONGEST // 4, pattern=r"^[^\x00-\x1f\x7f]*\Z")]
"""A name or a password, as every protocol can carry it."""


class PlainCredential(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="credentialtype", tag="PLAIN"
):
    """A name and a password."""

    identifier: Word
    secret: Word


class AccessToken(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="credentialtype", tag="ACCESSTOKEN"
):
    """A token that somebody else got."""

    accesstoken: Secret
    accesstokenexpiresutc: datetime
    accesstokentype: str = "bearer"


class RefreshToken(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="credentialtype",
    tag="REFRESHTOKEN",
):
    """A token that can be had anew, and where."""

    accesstoken: Secret
    accesstokenexpiresutc: datetime
    accesstokentype: str = "bearer"
    refreshtoken: Secret
    refreshtokenendpoint: Secret


Credential = PlainCredential | AccessToken | RefreshToken

# msgspec describes a type when it is first used, and two threads that make it do so at once crash the process.
msgspec.json.Decoder(Credential)

SECRETS = ("secret", "accesstoken", "refreshtoken")


def shown(credential: Credential) -> dict[str, Any]:
    """A credential without what is secret of it."""
    plain: dict[str, Any] = msgspec.to_builtins(credential)
    return {name: value for name, value in plain.items() if name not in SECRETS}


def completed(given: dict[str, Any], before: Credential | None) -> dict[str, Any]:
    """A credential as a client has read it, with the secrets that it had before."""
    if before is None or any(given.get(name) != value for name, value in shown(before).items()):
        return given
    known: dict[str, Any] = msgspec.to_builtins(before)
    return {**{name: known[name] for name in SECRETS if name in known}, **given}
