"""Read a message catalog over its API (CNCF Message and Event Catalog) as one document of that dialect."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from postroom.catalog.service_client import ServiceClient
from postroom.errors import ServiceRefused
from postroom.urls import parse_url

Tree = dict[str, Any]

_HEADER = "message-definition-"
_DEFINITIONS = "messagedefinitions"


def is_catalog_url(url: str) -> bool:
    """Whether a URL is that of a message catalog: its text gives the path that name."""
    parts = parse_url(url)
    return parts is not None and parts.path.rstrip("/").endswith("/messagecatalog")


def read_message_catalog(client: ServiceClient) -> Tree:
    """All groups with all definitions, each in its newest version."""
    return {"messagecatalog": {name: _group(client, name) for name in _names(client, "/")}}


def _group(client: ServiceClient, name: str) -> Tree:
    path = f"/{quote(name, safe='')}"
    found = client.get(path)
    if not isinstance(found, dict):
        raise ServiceRefused(f"{path} is no group of a message catalog.", place=client.name)
    below = f"{path}/{_DEFINITIONS}"
    return {**found, _DEFINITIONS: {one: _definition(client, below, one) for one in _names(client, below)}}


def _definition(client: ServiceClient, collection: str, name: str) -> Tree:
    """A definition; of a document in a format of its own that is no JSON object only the attributes can be told."""
    path = f"{collection}/{quote(name, safe='')}"
    reply = client.ask("GET", path)
    told = {one: reply.headers[_HEADER + one] for one in ("authority", "format") if reply.headers.get(_HEADER + one)}
    text = unquote(reply.headers.get(_HEADER + "description", ""))
    described = {"description": text} if text else {}
    is_json = "json" in reply.headers.get("content-type", "").partition(";")[0].lower() or not reply.is_success
    document = client.json(reply, path) if is_json else None
    version = document if isinstance(document, dict) else {}
    number = reply.headers.get(_HEADER + "version") or str(version.get("version") or 1)
    return {"id": name, **told, "versions": {number: {**version, **described}}}


def _names(client: ServiceClient, path: str) -> list[str]:
    found = client.get(path)
    if not isinstance(found, list):
        raise ServiceRefused(f"{path} does not list ids; this is no message catalog.", place=client.name)
    return [str(one.get("id") if isinstance(one, dict) else one) for one in found]
