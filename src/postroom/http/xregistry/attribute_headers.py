"""Attributes as `xRegistry-` headers, and back (http.md, HTTP Header Values)."""

from __future__ import annotations

import math
import re
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from postroom.model.conform import active_attributes
from postroom.model.names import is_map_key
from postroom.model.types import SCALAR_TYPES, Attribute, Attributes, ResourceType
from postroom.registry.problems import RegistryProblem

PREFIX = "xregistry-"
_PLAIN = "".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in '"%')
_INTEGER = re.compile(r"-?[0-9]{1,1000}\Z")
_DECIMAL = re.compile(r"-?[0-9]{1,1000}(?:\.[0-9]{1,1000})?(?:[eE][-+]?[0-9]{1,4})?\Z")
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def encode(value: str) -> str:
    """A header value: everything outside printable ASCII, and space, quote and percent, as %XX."""
    return quote(value, safe=_PLAIN)


def decode(value: str, name: str, subject: str) -> str:
    """The text of a header value; `header_error` when it is no UTF-8."""
    text = value.strip()
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        text = re.sub(r"\\(.)", r"\1", text[1:-1])
    try:
        return unquote_to_bytes(_BAD_PERCENT.sub("%25", text).encode("latin-1")).decode()
    except UnicodeDecodeError:
        raise RegistryProblem("header_error", subject, name=name, error_detail="it is not UTF-8") from None


def attribute_headers(
    document: dict[str, Any], resource_type: ResourceType, left_out: frozenset[str]
) -> dict[str, str]:
    """The headers of an entity's scalar attributes and maps of scalars; never of arrays, objects and other maps."""
    headers: dict[str, str] = {}
    for name, value in document.items():
        if name in left_out:
            continue
        if isinstance(value, dict):
            if _is_scalar_map(_definition(resource_type.attributes, name)) and all(map(is_map_key, value)):
                headers |= {f"xRegistry-{name}.{key}": encode(_text(member)) for key, member in value.items()}
        elif isinstance(value, str | int | float | bool):
            text = _text(value)
            headers[f"xRegistry-{name}"] = encode(text.removesuffix("$details") if name == "self" else text)
    return headers


def _definition(attributes: Attributes, name: str) -> Attribute | None:
    """The definition of an attribute, be it one of the extensions that the model allows."""
    return attributes.get(name) or attributes.get("*")


def _is_scalar_map(attribute: Attribute | None) -> bool:
    return (
        attribute is not None
        and attribute.type == "map"
        and attribute.item is not None
        and attribute.item.type in SCALAR_TYPES
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_attributes(headers: tuple[tuple[str, str], ...], resource_type: ResourceType, subject: str) -> dict[str, Any]:
    """The attributes that a document write gives in its headers."""
    meta = Attribute(name="meta", type="object", attributes=resource_type.metaattributes)
    given: dict[str, str] = {}
    for header, raw in headers:
        if not header.startswith(PREFIX):
            continue
        path = header.removeprefix(PREFIX)
        if not path or path in given:
            detail = "it is there twice" if path else "the name of an attribute is missing"
            raise RegistryProblem("header_error", subject, name=header, error_detail=detail)
        _check(path.partition(".")[0], resource_type, header, subject)
        given[path] = decode(raw, header, subject)
    active, _ = active_attributes(resource_type.attributes, dict(given))
    body: dict[str, Any] = {}
    for path, text in given.items():
        _put(body, path, {**active, "meta": meta}, text)
    return body


def _put(target: dict[str, Any], path: str, attributes: Attributes, text: str) -> None:
    """Set what a header names: an attribute, the key of a map (dots and all), or, deeper, a member of an object."""
    name, _, rest = path.partition(".")
    attribute = _definition(attributes, name)
    if not rest:
        target[name] = _typed(text, attribute.type if attribute else "string")
        return
    target[name] = target[name] if isinstance(target.get(name), dict) else {}
    if attribute is not None and attribute.type == "object":
        _put(target[name], rest, attribute.attributes, text)
    elif text != "null":
        item = attribute.item if attribute else None
        target[name][rest] = _typed(text, item.type if item else "string")


def _check(name: str, resource_type: ResourceType, header: str, subject: str) -> None:
    if name in (resource_type.singular, resource_type.singular + "base64", "contenttype"):
        detail = "the body and Content-Type carry the document"
        raise RegistryProblem("extra_xregistry_header", subject, name=header, error_detail=detail)


def refuse_attributes(headers: tuple[tuple[str, str], ...], subject: str) -> None:
    """Metadata comes in the body or in headers, never in both (RES-024)."""
    extra = next((name for name, _ in headers if name.startswith(PREFIX)), None)
    if extra is not None:
        detail = "the body carries the attributes"
        raise RegistryProblem("extra_xregistry_header", subject, name=extra, error_detail=detail)


def _typed(text: str, value_type: str) -> Any:
    """The value of a header; one that does not have the form of its type stays text, and the model refuses it."""
    if text == "null":
        return None
    if value_type == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if value_type in ("integer", "uinteger", "decimal") and _INTEGER.match(text):
        return int(text)
    if value_type == "decimal" and _DECIMAL.match(text) and math.isfinite(float(text)):
        return float(text)
    return text
