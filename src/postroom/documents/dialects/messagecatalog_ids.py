"""Ids of a message catalog, and the ids that the same groups and definitions have in a registry.

A catalog has ids of the syntax `segment-nz-nc` (RFC 3986): nearly everything, percent-encoded where need be, but no
bare colon. An xRegistry has letters, digits and `- . _ ~ : @`, and a letter, digit or `_` first. So in a registry a
colon and two hexadecimal digits stand for each byte that it has no character for: `a+b` is `a:2Bb`, and `.hidden`,
whose first character is none there, is `_::2Ehidden`. Ids that both can have are the same in both.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from postroom.model.names import is_entity_id

_ESCAPED = re.compile(r":([0-9A-F]{2})")
_FOREIGN = re.compile(r"[^A-Za-z0-9_.\-~:@]|:(?=[0-9A-F]{2})")
_NO_FIRST = re.compile(r"[.\-~:@]")
_FIRST = "_:"
"""Before a first character that has to be escaped; nothing else has two colons side by side there."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def entity_id(catalog_id: str) -> str:
    """The id in a registry of what a catalog calls so; one that a catalog cannot have stays as it is."""
    is_same = is_entity_id(catalog_id) and catalog_id_of(catalog_id) == catalog_id
    return catalog_id if is_same or catalog_id_error(catalog_id) else _escaped(catalog_id)


def catalog_id_of(entity_id: str) -> str:
    """The id in a catalog of an entity of the registry: the one that it came with."""
    escaped = entity_id.removeprefix(_FIRST) if entity_id.startswith(_FIRST + ":") else entity_id
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), escaped)
    try:
        decoded = re.sub(r"[\x80-\xff]+", lambda found: found[0].encode("latin-1").decode(), text)
    except UnicodeDecodeError:
        return entity_id
    return decoded if _escaped(decoded) == entity_id else entity_id


def catalog_segment(entity_id: str) -> str:
    """The id of an entity as a segment of a path of the catalog."""
    return quote(catalog_id_of(entity_id), safe="!$&'()*+,;=@~")


def catalog_id_error(catalog_id: str) -> str:
    """Why a catalog cannot have an id; empty when it can."""
    if _CONTROL.search(catalog_id):
        return "it has control characters, which are no characters of a String in CloudEvents"
    if catalog_id in ("", ".", ".."):
        return "it is no name of a path segment"
    if not is_entity_id(_escaped(catalog_id)) and not is_entity_id(catalog_id):
        return "it is longer than the 128 characters that an id in the registry has, where others are three each"
    return ""


def _escaped(catalog_id: str) -> str:
    escaped = _FOREIGN.sub(lambda found: _bytes(found[0]), catalog_id)
    if _NO_FIRST.match(catalog_id):
        escaped = _bytes(catalog_id[0]) + _FOREIGN.sub(lambda found: _bytes(found[0]), catalog_id[1:])
    return _FIRST + escaped if escaped.startswith(":") else escaped


def _bytes(character: str) -> str:
    return "".join(f":{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
