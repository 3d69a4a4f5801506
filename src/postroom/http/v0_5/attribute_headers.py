"""Attributes in `Registry-` headers, of requests and responses. An empty header removes the attribute."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import msgspec

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.name_tables import SERVICE_ATTRIBUTES
from postroom.http.server.request import Request
from postroom.http.v0_5.entity_views import COMMON, VersionView
from postroom.http.v0_5.names import uri_name
from postroom.http.xregistry.attribute_headers import decode
from postroom.http.xregistry.document_view import URL_CHARACTERS
from postroom.model.types import ResourceType
from postroom.registry.problems import RegistryProblem

PREFIX = "registry-"
_PLAIN = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in '"%')
_TYPED = ("boolean", "decimal", "integer", "uinteger")


def resource_headers(state: VersionView) -> dict[str, str]:
    """The headers that carry the attributes of a Resource."""
    headers: dict[str, str] = {}
    double = state.resource_type.singular + "url" if state.uri else None
    for name, value in state.metadata.items():
        if name == "tags" and isinstance(value, dict):
            headers |= {f"Registry-tags.{tag}": _encoded(tag, one) for tag, one in value.items() if one}
        elif isinstance(value, str | int | float) and value != "" and name != double:
            headers[f"Registry-{name}"] = _encoded(name, value)
    return {**headers, "Content-Location": headers["Registry-self"]}


def _encoded(name: str, value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if _is_url(name):
        return quote(text, safe=URL_CHARACTERS)
    return quote(text, safe=_PLAIN if text == text.strip() else _PLAIN[1:])


def _is_url(name: str) -> bool:
    return name in ("self", "docs") or name.lower().endswith("uri")


def given_attributes(request: Request, resource_type: ResourceType, before: Tree, body: Tree) -> Tree:
    """The attributes that the headers of a request give, spelled as before or in the body; None takes one away."""
    spelled = {name.lower(): name for name in (*COMMON, uri_name(resource_type), *body, *before)}
    if resource_type.hasdocument:
        spelled[resource_type.singular + "url"] = uri_name(resource_type)
    given: Tree = {}
    seen: set[str] = set()
    for header, raw in request.headers:
        if not header.startswith(PREFIX):
            continue
        name = header.removeprefix(PREFIX)
        if name in seen:
            raise RegistryProblem("header_error", request.path, name=header, error_detail="it is there twice")
        seen.add(name)
        text = raw.strip() if _is_url(name) else decode(raw, header, request.path)
        if name.startswith("tags."):
            _put_tag(given, before, name.removeprefix("tags."), text)
        else:
            _check_name(name, header, resource_type, request)
            spelling = spelled.get(name, name)
            given[spelling] = _typed(text, name, resource_type, before.get(spelling)) if text else None
    return given


def _check_name(name: str, header: str, resource_type: ResourceType, request: Request) -> None:
    if not name:
        raise RegistryProblem("header_error", request.path, name=header, error_detail="it names no attribute")
    if resource_type.hasdocument and name in (resource_type.singular, resource_type.singular + "base64", "contenttype"):
        detail = "the body and Content-Type carry the document"
        raise RegistryProblem("extra_xregistry_header", request.path, name=header, error_detail=detail)


def _put_tag(given: Tree, before: Tree, tag: str, text: str) -> None:
    tags = given.get("tags") or before.get("tags")
    tags = dict(tags) if isinstance(tags, dict) else {}
    tag = _spelling(tag, tags)
    tags.pop(tag, None)
    given["tags"] = {**tags, tag: text} if text else tags


def _spelling(name: str, known: Iterable[str]) -> str:
    return next((one for one in known if one.lower() == name), name)


def _typed(text: str, name: str, resource_type: ResourceType, before: Any) -> Any:
    """The value of an attribute; an extension that the model does not know keeps being a number, or true or false."""
    attribute = resource_type.attributes.get(SERVICE_ATTRIBUTES.get(name, name))
    if not isinstance(before, int | float) if attribute is None else attribute.type not in _TYPED:
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text  # the model refuses it
