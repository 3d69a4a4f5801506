"""The document of a Version: the attributes that carry it in a request, and its form inside JSON (typemap)."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from postroom.model.scalar_types import scalar_error
from postroom.model.types import ResourceType
from postroom.registry.entities import Document
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.compare_values import matches_pattern
from postroom.registry.write.merge_attributes import Body

TYPEMAP = {"application/json": "json", "*+json": "json", "text/plain": "string"}
JSON_TYPE = "application/json"


class ProxiedContent:
    """Placeholder in a rendered response for the base64 of a document that has still to be fetched."""

    def __init__(self, url: str) -> None:
        self.url = url


def document_names(singular: str) -> tuple[str, str, str]:
    """Names of the attributes that carry a document: inline, base64, by URL."""
    return singular, singular + "base64", singular + "url"


def proxy_name(singular: str) -> str:
    """Name of the attribute for a document that the server fetches and relays: an extension of ours (RES-041)."""
    return singular + "proxyurl"


def pop_document(
    resource_type: ResourceType, body: Body, before: Document | None, stored_type: str | None, patch: bool, subject: str
) -> Document | None:
    """Remove the document from a body and return it as it is after the write; may set `contenttype`."""
    inline, encoded, url = document_names(resource_type.singular)
    proxy = proxy_name(resource_type.singular)
    if not resource_type.hasdocument:
        return None
    possible = (inline, encoded, url, proxy)
    given = [name for name in possible if body.get(name) is not None]
    cleared = [name for name in possible if name in body and body[name] is None]
    if len(given) > 1:
        raise RegistryProblem("one_resource", subject, list=", ".join(possible))
    values = {name: body.pop(name) for name in (inline, encoded, url) if name in body}
    if not given and not cleared:
        # RES-032: a document that is a URL is an attribute like any other, so a PUT without it removes it.
        return None if before is not None and before.url and not patch else before
    if proxy not in given:
        body[proxy] = None  # RES-031: setting one removes the others
    if not given or given == [proxy]:
        return None
    name = given[0]
    if name != url and "contenttype" not in body and (name == inline or patch):
        # RES-034, RES-035: what arrives inside JSON has the type of the request; a PATCH keeps a stored one.
        body["contenttype"] = stored_type if patch and stored_type else JSON_TYPE
    if name == url:
        return Document(url=_url(values[url], url, subject))
    if name == encoded:
        return Document(content=_decoded(values[encoded], encoded, subject))
    return Document(content=encode_document(values[inline]), text=isinstance(values[inline], str))


def _url(value: Any, name: str, subject: str) -> str:
    if value == "" or scalar_error("url", value):
        raise RegistryProblem("invalid_attribute", subject, name=name, error_detail="must be a URL", pointer=f"/{name}")
    return str(value)


def _decoded(value: Any, name: str, subject: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise RegistryProblem(
            "invalid_attribute", subject, name=name, error_detail="must be base64", pointer=f"/{name}"
        ) from None


def encode_document(value: Any) -> bytes:
    """The bytes of a document that was given inside JSON: a string as it is, anything else as indented JSON."""
    return value.encode() if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2)


def inline_document(
    resource_type: ResourceType, document: Document, contenttype: str | None, binary: bool = False
) -> Body:
    """The attribute that holds a document inside JSON."""
    inline, encoded, _ = document_names(resource_type.singular)
    if document.url:
        return {}
    is_empty = not document.content and not document.text
    form = "binary" if binary or is_empty else inline_form(resource_type, contenttype)
    if form == "json":
        try:
            return {inline: msgspec.json.decode(document.content)}
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            form = "string" if document.text else "binary"  # MOD-089; a string that came inside JSON goes back as one
    if form == "string":
        try:
            return {inline: document.content.decode()}
        except UnicodeDecodeError:
            pass  # what cannot be shown as its type says is shown as bytes
    return {encoded: base64.b64encode(document.content).decode()}


def inline_form(resource_type: ResourceType, contenttype: str | None) -> str:
    """The form that documents of a media type have inside JSON: binary, json or string."""
    media_type = (contenttype or "").partition(";")[0].strip().lower()
    own = {pattern.lower(): form.lower() for pattern, form in resource_type.typemap.items()}
    for table in (own, {pattern: form for pattern, form in TYPEMAP.items() if pattern not in own}):
        found = {form for pattern, form in table.items() if matches_pattern(media_type, pattern)}
        if found:
            return found.pop() if len(found) == 1 else "binary"
    return "binary"
