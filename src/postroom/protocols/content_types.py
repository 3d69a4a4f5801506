"""Content types: whether one says what another asks for (RFC 2045; MSG-032)."""

from __future__ import annotations

import functools
import re

from postroom.protocols.cloudevents import media_type

_PARAMETER = re.compile(r';\s*([^\s;="]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;"]*)')
_ESCAPED = re.compile(r"\\(.)")
_LONGEST_KNOWN = 200

Parts = tuple[str, frozenset[tuple[str, str]]]


def is_same_type(found: str, wanted: str) -> bool:
    """Whether a content type is the wanted one and has all parameters that the wanted one names; others are free."""
    if found == wanted:
        return True
    media, parameters = _parts(found)
    wanted_media, wanted_parameters = _parts(wanted)
    return media == wanted_media and wanted_parameters <= parameters


def is_among(found: str, media_types: tuple[str, ...]) -> bool:
    """Whether a content type has one of some media types; one that begins with `+` stands for all with that suffix."""
    media = _parts(found)[0]
    return media in media_types or any(media.endswith(one) for one in media_types if one.startswith("+"))


def _parts(content_type: str) -> Parts:
    return _known_parts(content_type) if len(content_type) <= _LONGEST_KNOWN else _split(content_type)


def _split(content_type: str) -> Parts:
    """The media type in lower case, and the parameters: names, and the values of `charset`, in lower case too."""
    parameters = ((name.lower(), _unquoted(value.strip())) for name, value in _PARAMETER.findall(content_type))
    return media_type(content_type), frozenset(
        (name, value.lower() if name == "charset" else value) for name, value in parameters
    )


_known_parts = functools.lru_cache(maxsize=1024)(_split)


def _unquoted(value: str) -> str:
    return _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value
