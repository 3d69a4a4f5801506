"""Attributes of definitions and versions as query parameters and headers: `Message-Definition-…` (C-79)."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.http.messagecatalog.request import CatalogRequest
from postroom.http.xregistry.attribute_headers import decode, encode
from postroom.model.scalar_types import scalar_error
from postroom.registry.changes.provenance import LONGEST_URI, is_absolute, normal_uri
from postroom.registry.problems import RegistryProblem

PREFIX = "Message-Definition-"
URIS = frozenset({"id", "authority", "uri"})
"""Attributes that are written in headers as they are: what cannot stand there is percent-encoded in them anyway."""


class RequestAttributes(msgspec.Struct, frozen=True):
    """What a client says about a new version beside its document; empty where it says nothing."""

    id: str = ""
    authority: str = ""
    format: str = ""
    description: str = ""


def read_attributes(context: CatalogRequest) -> RequestAttributes:
    """The attributes of a request, checked; in the query or in headers, and the same where in both."""
    given = RequestAttributes(**{name: _value(context, name) for name in RequestAttributes.__struct_fields__})
    for name, value in (("id", given.id), ("authority", given.authority)):
        uri = normal_uri(value)
        if len(uri) > LONGEST_URI or scalar_error("uri", uri):
            context.refuse(f"{name} must be a URI of at most {LONGEST_URI} characters")
    if given.authority and not is_absolute(given.authority):
        context.refuse(f"authority must be an absolute URI, {given.authority!r} has no scheme")
    return msgspec.structs.replace(given, id=normal_uri(given.id), authority=normal_uri(given.authority))


def _value(context: CatalogRequest, name: str) -> str:
    header = (PREFIX + name).lower()
    found = {value for key, value in context.request.query if key == name}
    sent = {value.strip() for key, value in context.request.headers if key == header}
    found |= sent if name in URIS else {decode(value, header, context.path.xid) for value in sent}
    if len(found) > 1:
        shown = " and ".join(sorted(map(repr, found)))
        raise RegistryProblem("bad_request", context.path.xid, error_detail=f"{name} is given as {shown[:200]}")
    return next(iter(found), "")


def attribute_headers(attributes: dict[str, Any]) -> dict[str, str]:
    """The headers of attributes; those that are not there have none."""
    known = {name: str(value) for name, value in attributes.items() if value not in (None, "")}
    return {PREFIX + name.title(): _encoded(name, value) for name, value in known.items()}


def _encoded(name: str, text: str) -> str:
    """As in the headers of xRegistry, but with the blanks between words."""
    if name in URIS:
        return normal_uri(text)
    return " ".join(map(encode, text.split(" "))) if text.strip() == text else encode(text)
