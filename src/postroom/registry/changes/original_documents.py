"""Original documents of message definitions: the bytes and the content type that a state of a message came with."""

from __future__ import annotations

import msgspec

from postroom.registry.changes.entity_attachments import attach, attachment, state_key
from postroom.registry.entities import Entity
from postroom.registry.transaction_interface import Transaction

LONGEST_TYPE = 255
_NAME = "catalogdocument"


class Original(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A document as it came: its bytes, its content type, and the id that its version was given, if any."""

    content: bytes
    contenttype: str
    id: str = ""
    modifiedat: str = ""
    """When its state began; one that began at another time has another document."""


def is_content_type(text: str) -> bool:
    """Whether a text can be the content type of a document: it is sent as a header again."""
    return len(text) <= LONGEST_TYPE and text.isascii() and text.isprintable() and "/" in text


_READ = msgspec.msgpack.Decoder(Original)  # here, for threads may not describe a type at the same time


def original_of(tx: Transaction, version: Entity) -> Original | None:
    """The document that a state of a message came with; None when it was written in another way."""
    stored = attachment(tx, state_key(version), _NAME)
    original = _READ.decode(stored) if stored is not None else None
    return original if original is not None and original.modifiedat == version.modifiedat else None


def store_original(tx: Transaction, version: Entity, original: Original) -> None:
    """Keep the document that a state came with."""
    stamped = msgspec.structs.replace(original, modifiedat=version.modifiedat)
    attach(tx, state_key(version), _NAME, msgspec.msgpack.encode(stamped))
