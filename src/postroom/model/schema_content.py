"""What a Version of a schema says beside its document, and the digest that tells equal contents.

References are names that a document uses for other schemas, each with the path that is meant.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

import msgspec

References = tuple[tuple[str, str], ...]

METADATA, RULES = "schemametadata", "schemarules"
_DIGEST_BYTES = 16


def stated_references(version: Mapping[str, Any]) -> References:
    """The names and paths in the attribute `references` of a Version."""
    given = version.get("references")
    entries = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    named = [(one.get("name"), one.get("xid")) for one in entries]
    return tuple((name, xid) for name, xid in named if isinstance(name, str) and isinstance(xid, str))


def qualifiers(version: Mapping[str, Any]) -> bytes:
    """What distinguishes a Version from others with an equal document: references, metadata and rules."""
    stated = ((name, version.get(name)) for name in ("references", METADATA, RULES))
    return b"".join(
        b"\0%s\0" % name.encode() + msgspec.json.encode(value, order="sorted") for name, value in stated if value
    )


def content_digest(identity: bytes, qualified: bytes = b"") -> str:
    """The digest of a content, as 32 hexadecimal digits: of what is equal in equal documents, and of qualifiers."""
    return hashlib.blake2b(identity + qualified, digest_size=_DIGEST_BYTES).hexdigest()


def content_guid(digest: str) -> str:
    """The GUID of a schema that was given none: it follows from the content."""
    return str(uuid.UUID(digest))
