"""Attributes as `xRegistry-` headers, and back (http.md, HTTP Header Values)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from postroom.model.names import is_map_key
from postroom.model.types import Attribute, ResourceType
from postroom.registry.problems import RegistryProblem

PREFIX = "xregistry-"
_PLAIN = "".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in '"%')
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
        return unquote_to_bytes(_BAD_PERCENT.sub("%25", text)).decode()
    except UnicodeDecodeError:
        raise RegistryProblem("header_error", subject, name=name, error_detail="it is not UTF-8") from None


def attribute_headers(document: dict[str, Any], left_out: frozenset[str]) -> dict[str, str]:
    """The headers of an entity's scalar attributes and maps of scalars."""
    headers: dict[str, str] = {}
    for name, value in document.items():
        if name in left_out:
            continue
        if isinstance(value, dict):
            members = {f"{name}.{key}": member for key, member in value.items()}
            if all(_is_scalar(value[key]) and is_map_key(key) for key in value):
                headers |= {f"xRegistry-{key}": encode(_text(member)) for key, member in members.items()}
        elif _is_scalar(value):
            headers[f"xRegistry-{name}"] = encode(
                _text(value).removesuffix("$details") if name == "self" else _text(value)
            )
    return headers


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_attributes(headers: tuple[tuple[str, str], ...], kind: ResourceType, subject: str) -> dict[str, Any]:
    """The attributes that a document write gives in its headers."""
    body: dict[str, Any] = {}
    for header, raw in headers:
        if not header.startswith(PREFIX):
            continue
        name, _, key = header.removeprefix(PREFIX).partition(".")
        _check(name, kind, header, subject)
        text = decode(raw, header, subject)
        if key:
            body[name] = body[name] if isinstance(body.get(name), dict) else {}
            if text != "null":
                body[name][key] = text
        else:
            body[name] = _typed(text, kind.attributes.get(name))
    return body


def _check(name: str, kind: ResourceType, header: str, subject: str) -> None:
    if name in (kind.singular, kind.singular + "base64", "contenttype"):
        detail = "the body and Content-Type carry the document"
        raise RegistryProblem("extra_xregistry_header", subject, name=header, error_detail=detail)


def refuse_attributes(headers: tuple[tuple[str, str], ...], subject: str) -> None:
    """Metadata comes in the body or in headers, never in both (RES-024)."""
    extra = next((name for name, _ in headers if name.startswith(PREFIX)), None)
    if extra is not None:
        detail = "the body carries the attributes"
        raise RegistryProblem("extra_xregistry_header", subject, name=extra, error_detail=detail)


def _typed(text: str, attribute: Attribute | None) -> Any:
    if text == "null":
        return None
    kind = attribute.type if attribute else "string"
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if kind in ("integer", "uinteger", "decimal"):
        try:
            return int(text) if kind != "decimal" or re.fullmatch(r"-?\d+", text) else float(text)
        except ValueError:
            return text
    return text
