"""Legal names of attributes, map keys and types, and legal entity ids."""

from __future__ import annotations

import re

ATTRIBUTE_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}\Z")
MAP_KEY = re.compile(r"[a-z0-9][a-z0-9:_.\-]{0,62}\Z")
ENTITY_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-~:@]{0,127}\Z")
ENTITY_ID_RULE = "1 to 128 letters, digits and - . _ ~ : @, the first a letter, a digit or _"
VERBATIM_KEY = re.compile(r"[^\x00-\x1f\x7f]{1,256}\Z")

# `verbatim` is our own character set (model.md lets a server add some): AMQP and Kafka names
# are not lower-case, and their spelling has to survive (C-09).
CHARSETS = {"": ATTRIBUTE_NAME, "strict": ATTRIBUTE_NAME, "extended": MAP_KEY, "verbatim": VERBATIM_KEY}

PLURAL_LENGTH = 57
SINGULAR_LENGTH = 63
SCALAR_LENGTH = 4096


def is_attribute_name(name: str, charset: str = "") -> bool:
    """Whether a name is legal for an attribute of an object with this `namecharset`."""
    return CHARSETS[charset.lower()].match(name) is not None


def is_map_key(name: str) -> bool:
    """Whether a name is a legal map key."""
    return MAP_KEY.match(name) is not None


def is_entity_id(entity_id: str) -> bool:
    """Whether an id is legal for an entity."""
    return ENTITY_ID.match(entity_id) is not None
