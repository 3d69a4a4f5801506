"""API keys: made here, shown once, kept as a hash. A key is a subject of grants by its id."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import UTC, datetime, timedelta

import msgspec

from postroom.access.grants import Grant, add_grants, mark_changed, read_grants, remove_grants
from postroom.errors import AccessRefused
from postroom.registry.transaction_interface import Transaction

KEY = "key"
KEY_USE = "keyuse"
"""Kinds of records in a store: the keys, and when each was used last."""
MARK = "postroom"
"""What every key begins with, so that a scanner for secrets finds it."""
SHOWN_DIGITS = 6

_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}\Z")
_SECRET = re.compile(r"[0-9a-f]{64}\Z")
_SPAN = re.compile(r"([1-9][0-9]{0,4})([dhm])\Z")
_SECRETS = re.compile(rf"({MARK}_[a-z0-9.-]{{1,63}}_)[0-9a-fA-F]+|eyJ[\w-]+\.[\w-]*(?:\.[\w-]*)?")
"""Keys of ours and web tokens, wherever a client puts them by mistake."""
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


class ApiKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key without its secret: of a random secret of 256 bits a plain hash is enough, nobody can try them all."""

    id: str
    digest: str
    hint: str
    """The first digits of the secret, by which its holder can tell it from others."""
    created: datetime
    creator: str = ""
    expires: datetime | None = None
    revoked: datetime | None = None

    def fits(self, secret: str) -> bool:
        """Whether a secret is this key's; takes the same time for every wrong one."""
        return hmac.compare_digest(self.digest, digest_of(secret))

    def status(self, now: datetime) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "active"


_KEYS: msgspec.json.Decoder[ApiKey] = msgspec.json.Decoder(ApiKey)


def digest_of(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def split_key(text: str) -> tuple[str, str] | None:
    """The id and the secret of a key as its holder has it; None when it is none."""
    mark, _, rest = text.partition("_")
    key_id, _, secret = rest.partition("_")
    return (key_id, secret) if mark == MARK and _ID.match(key_id) and _SECRET.match(secret) else None


def has_secret(text: str) -> bool:
    """Whether there is a key of ours or a web token in a text."""
    return _SECRETS.search(text) is not None


def without_secrets(text: str) -> str:
    """A text of a client without keys and tokens, for logs and records."""
    return _SECRETS.sub(lambda found: f"{found[1] or ''}…", text)


def parse_span(text: str, now: datetime) -> datetime:
    """The end of a span of time such as `90d`, `12h` or `30m` that begins now."""
    found = _SPAN.match(text)
    if found is None:
        raise AccessRefused(f"{text[:40]!r} is no span of time.", remedy="Write 90d, 12h or 30m.")
    return now + timedelta(**{_UNITS[found[2]]: int(found[1])})


def create_key(
    tx: Transaction, key_id: str, grants: list[Grant], *, expires: datetime | None = None, creator: str = ""
) -> tuple[ApiKey, str]:
    """Make a key with grants of its own; the key, and what its holder sends, which nobody can find out again.

    An id is used once for ever: who changed what is told by it.
    """
    if not _ID.match(key_id):
        raise AccessRefused(
            f"{key_id[:80]!r} is no name of a key.", remedy="Up to 63 small letters, digits, dots and hyphens."
        )
    known = find_key(tx, key_id)
    if known is not None:
        state = known.status(_now())
        remedy = (
            "Take another name." if state == "revoked" else f"Take another name, or `postroom keys rotate {key_id}`."
        )
        raise AccessRefused(f"there is a key {key_id} already ({state}).", remedy=remedy)
    secret = secrets.token_hex(32)
    key = ApiKey(
        id=key_id,
        digest=digest_of(secret),
        hint=secret[:SHOWN_DIGITS],
        created=_now(),
        creator=creator,
        expires=expires,
    )
    _put(tx, key)
    add_grants(tx, grants)
    return key, f"{MARK}_{key_id}_{secret}"


def rotate_key(tx: Transaction, key_id: str, *, expires: datetime | None = None) -> tuple[ApiKey, str]:
    """Give a key another secret; the old one stops to work at once, and the grants stay."""
    known = require_key(tx, key_id)
    if known.revoked is not None:
        raise AccessRefused(f"the key {key_id} is revoked.", remedy="Make a new one.")
    secret = secrets.token_hex(32)
    key = msgspec.structs.replace(
        known, digest=digest_of(secret), hint=secret[:SHOWN_DIGITS], created=_now(), expires=expires or known.expires
    )
    if key.status(_now()) == "expired":
        raise AccessRefused(f"the key {key_id} has expired.", remedy="Say how long the new one is good: --expires 90d.")
    _put(tx, key)
    mark_changed(tx)
    return key, f"{MARK}_{key_id}_{secret}"


def revoke_key(tx: Transaction, key_id: str) -> ApiKey:
    """End a key, and take its grants; its id stays, so that nobody can get it again."""
    known = require_key(tx, key_id)
    key = msgspec.structs.replace(known, revoked=known.revoked or _now())
    _put(tx, key)
    remove_grants(tx, [grant for grant in read_grants(tx) if grant.subject == f"key:{key_id}"])
    return key


def read_keys(tx: Transaction) -> dict[str, ApiKey]:
    """All keys by id."""
    return {key_id: _KEYS.decode(body) for key_id, body in tx.records(KEY)}


def find_key(tx: Transaction, key_id: str) -> ApiKey | None:
    """One key."""
    body = tx.record(KEY, key_id)
    return None if body is None else _KEYS.decode(body)


def require_key(tx: Transaction, key_id: str) -> ApiKey:
    """A key that has to be there."""
    found = find_key(tx, key_id)
    if found is None:
        raise AccessRefused(f"there is no key {key_id[:80]}.", remedy="`postroom keys list` lists them.")
    return found


def note_uses(tx: Transaction, uses: dict[str, datetime]) -> None:
    """Keep when keys were used last."""
    for key_id, moment in uses.items():
        tx.put_record(KEY_USE, key_id, moment.isoformat(timespec="seconds").encode())


def last_uses(tx: Transaction) -> dict[str, str]:
    """When each key was used last, by id."""
    return {key_id: body.decode() for key_id, body in tx.records(KEY_USE)}


def described(tx: Transaction) -> list[dict[str, object]]:
    """All keys as they may be shown, with their grants and last uses."""
    uses, now = last_uses(tx), _now()
    grants: dict[str, list[str]] = {}
    for grant in read_grants(tx):
        grants.setdefault(grant.subject, []).append(f"{grant.role}:{grant.prefix}")
    return [
        {
            "id": key.id,
            "hint": key.hint,
            "status": key.status(now),
            "grants": grants.get(f"key:{key.id}", []),
            "created": _shown(key.created),
            "creator": key.creator,
            "expires": _shown(key.expires),
            "revoked": _shown(key.revoked),
            "lastuse": uses.get(key.id, ""),
        }
        for key in read_keys(tx).values()
    ]


def _put(tx: Transaction, key: ApiKey) -> None:
    tx.put_record(KEY, key.id, msgspec.json.encode(key))


def _shown(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat(timespec="seconds")


def _now() -> datetime:
    return datetime.now(UTC)
