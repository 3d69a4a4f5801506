"""Attributes in headers, under the names of an older version."""

from __future__ import annotations

import re

from postroom.http.older_releases.releases import OlderRelease
from postroom.http.older_releases.request_entities import is_renamed
from postroom.http.server.request import Request
from postroom.http.xregistry.attribute_headers import PREFIX
from postroom.model.types import ResourceType
from postroom.registry.problems import RegistryProblem

SHOWN_PREFIX = "xRegistry-"


def read_headers(release: OlderRelease, kind: ResourceType, request: Request) -> tuple[tuple[str, str], ...]:
    """The headers of a document write, in the names of today."""
    given = {name for name, _ in request.headers}
    return tuple((_ours(release, kind, name, given, request.path), value) for name, value in request.headers)


def _ours(release: OlderRelease, kind: ResourceType, header: str, given: set[str], subject: str) -> str:
    if not header.startswith(PREFIX):
        return header
    name, mark, key = _split(header.removeprefix(PREFIX), release.map_separator)
    ours = release.attributes.get(name, name)
    if ours != name and is_renamed(kind.plural, name, ours, kind.attributes):
        if PREFIX + ours in given:
            detail = f"{PREFIX}{ours} is there, too, and is the same"
            raise RegistryProblem("header_error", subject, name=header, error_detail=detail)
        name = ours
    return PREFIX + name + (f".{key}" if mark else "")


def _split(text: str, mark: str) -> tuple[str, str, str]:
    """The attribute and the key of a map: names of attributes have neither dots nor hyphens."""
    name, *rest = re.split(rf"([.{re.escape(mark)}])", text, maxsplit=1)
    return (name, rest[0], rest[1]) if rest else (name, "", "")


def write_headers(release: OlderRelease, headers: dict[str, str]) -> dict[str, str]:
    """The headers of an answer, in the names of the version."""
    names = release.theirs
    made = {}
    for header, value in headers.items():
        name, mark, key = header.removeprefix(SHOWN_PREFIX).partition(".")
        if not header.startswith(SHOWN_PREFIX):
            made[header] = value
        elif name not in release.hidden:
            shown = names[name] if name in names and SHOWN_PREFIX + names[name] not in headers else name
            made[SHOWN_PREFIX + shown + (release.map_separator + key if mark else "")] = value
    return made
