"""Short URLs of entities (`shortself`): a token computed from the xid, so that it never changes."""

from __future__ import annotations

import base64
import hashlib
import re

from postroom.registry.transaction_interface import Transaction

PREFIX = "/-/s/"
_TOKEN_BYTES = 10
_SHORT = re.compile(r"/-/s/([a-z2-7]{16})(?:/(meta)|/v/([^/]+))?\Z")
OWN_TOKEN = (0, 2, 4)
"""Numbers of slashes in xids with a token of their own: the Registry, Groups, Resources."""


def short_path(xid: str) -> str:
    """The path of an entity's short URL."""
    parts = xid.split("/")[1:]
    owner = "/" + "/".join(parts[:4])
    if len(parts) > 5:
        return f"{PREFIX}{_token(owner)}/v/{parts[5]}"
    return PREFIX + _token(owner) + ("/meta" if len(parts) == 5 else "")


def long_path(tx: Transaction, path: str) -> str | None:
    """The xid of a short path; found by computing the tokens of all xids, as they are not stored."""
    found = _SHORT.match(path)
    if found is None:
        return None
    token, meta, version = found.groups()
    owners = (xid for xid in tx.xids() if xid == "/" or xid.count("/") in OWN_TOKEN)
    xid = next((xid for xid in owners if _token(xid) == token), None)
    if xid is None:
        return None
    return xid + ("/meta" if meta else f"/versions/{version}" if version else "")


def _token(xid: str) -> str:
    digest = hashlib.sha256(xid.encode()).digest()[:_TOKEN_BYTES]
    return base64.b32encode(digest).decode().lower()
