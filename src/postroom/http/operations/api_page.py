"""`/docs`: the description of the API as a page. It has no scripts and fetches nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from typing import Any

Tree = dict[str, Any]

STYLE = files("postroom.http.operations").joinpath("assets/api_page.css").read_text(encoding="utf-8")
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
METHODS = ("get", "put", "patch", "post", "delete")


def api_page(document: Tree, description_url: str) -> bytes:
    """The page of a description that is at a URL."""
    info = document["info"]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(info['title'])} API</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['summary'])}",
        f' The same for programs: <a href="{escape(description_url)}">openapi.json</a>.</p>',
        *(line for tag in document["tags"] for line in _section(document, tag["name"])),
        "<h2>schemas</h2>",
        *(line for name, schema in document["components"]["schemas"].items() for line in _schema(name, schema)),
        "</body></html>",
    ]
    return "\n".join(parts).encode()


def _section(document: Tree, tag: str) -> Iterator[str]:
    yield f"<h2>{escape(tag)}</h2>"
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item and tag in item[method]["tags"]:
                yield from _operation(method, path, item[method])


def _operation(method: str, path: str, operation: Tree) -> Iterator[str]:
    yield f"<details><summary><b>{method.upper()}</b> {escape(path)}</summary><p>{escape(operation['summary'])}</p>"
    rows = [(one["name"], one.get("description", "")) for one in operation.get("parameters", ())]
    yield from _table((f"?{name}", escape(text)) for name, text in rows)
    for content in (operation.get("requestBody"), *operation["responses"].values()):
        yield from _links(content or {})
    yield "</details>"


def _links(body: Tree) -> Iterator[str]:
    for content in body.get("content", {}).values():
        if name := _named(content.get("schema", {})):
            yield f'<p><a href="#{escape(name)}"><code>{escape(name)}</code></a></p>'


def _schema(name: str, schema: Tree) -> Iterator[str]:
    yield f'<details id="{escape(name)}"><summary>{escape(name)}</summary>'
    yield f"<p>{escape(schema.get('description', ''))}</p>"
    yield from _table((member, _type(one)) for member, one in schema.get("properties", {}).items())
    yield "</details>"


def _type(schema: Tree) -> str:
    """What a member is, in words."""
    if name := _named(schema):
        return f'<a href="#{escape(name)}">{escape(name)}</a>'
    kinds = schema.get("type", "any")
    kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
    return f"{escape(kind)} {escape(schema.get('description', ''))}"


def _named(schema: Tree) -> str:
    inner = schema.get("additionalProperties")
    found = schema.get("$ref") or (inner.get("$ref") if isinstance(inner, dict) else None) or ""
    return str(found).rpartition("/")[2]


def _table(rows: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Rows of a name and what is said about it, which is HTML."""
    made = [f"<tr><td><code>{escape(name)}</code></td><td>{text}</td></tr>" for name, text in rows]
    if made:
        yield f"<table>{''.join(made)}</table>"
