"""Signed deliveries, so that a sink can tell ours from anyone else's: the headers of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

ENCODED = "whsec_"


def key_of(secret: str) -> bytes:
    """The key that a secret stands for: base64 behind `whsec_`, else the text itself."""
    if secret.startswith(ENCODED):
        try:
            return base64.b64decode(secret.removeprefix(ENCODED), validate=True)
        except binascii.Error:
            pass  # then it is a text like any other
    return secret.encode()


def signature_headers(key: bytes, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The headers that sign a body: HMAC-SHA256 over id, time and body, joined by dots."""
    signed = b"%b.%d.%b" % (message_id.encode(), seconds, body)
    digest = hmac.digest(key, signed, hashlib.sha256)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }
