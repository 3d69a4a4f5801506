"""Credentials of sinks (CloudEvents Subscriptions API 3.2.3): written by clients, never shown to them again."""

from __future__ import annotations

import os
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
ENVIRONMENT = "env:"
SINK_VARIABLES = f"{ENVIRONMENT}SINK_KEY_"
"""What references to secrets begin with: other variables of the service are for no sink."""


def refers(credential: Credential | None) -> bool:
    """Whether a secret is in a variable of the service, and only its name is kept."""
    return any(getattr(credential, name, "").startswith(ENVIRONMENT) for name in SECRETS)


def resolved(credential: Credential | None) -> Credential | None:
    """A credential with the secrets that it refers to; LookupError when one is not there."""
    if credential is None or not refers(credential):
        return credential
    found = {name: _secret(getattr(credential, name)) for name in SECRETS if hasattr(credential, name)}
    return msgspec.structs.replace(credential, **found)


def _secret(kept: str) -> str:
    if not kept.startswith(SINK_VARIABLES):
        return kept
    name = kept.removeprefix(ENVIRONMENT)
    found = os.environ.get(name, "").strip()
    if not found or not found.isprintable():
        raise LookupError(f"the variable {name} of the service holds no secret")
    return found


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
