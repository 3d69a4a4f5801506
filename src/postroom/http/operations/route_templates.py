"""Paths as templates: a few dozen names for all paths there can be, so that metrics and traces have bounded labels."""

from __future__ import annotations

from postroom.http.server.web_pages import NAME as PAGES
from postroom.http.services.mounts import MOUNTS
from postroom.http.xregistry.configuration import METHODS
from postroom.registry.read.short_urls import PREFIX as SHORT

OTHER = "other"
ENTITIES = (
    "/",
    "/{grouptype}",
    "/{grouptype}/{groupid}",
    "/{grouptype}/{groupid}/{resourcetype}",
    "/{grouptype}/{groupid}/{resourcetype}/{resourceid}",
)
RESOURCE = ENTITIES[-1]
BELOW = {"meta": f"{RESOURCE}/meta", "versions": f"{RESOURCE}/versions"}
COLLECTIONS = frozenset({*ENTITIES[1::2], BELOW["versions"]})
VERSION = f"{RESOURCE}/versions/{{versionid}}"
METHOD_NAMES = frozenset({"GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS"})

_FIXED = {f"/{name}": f"/{name}" for name in (*METHODS, *MOUNTS, PAGES)}
_MOUNTED = {name: f"/{name}/…" for name in (*MOUNTS, PAGES)}


def route_of(path: str) -> str:
    """The template of a path. Which group types there are does not matter: whoever asks for many is no new route."""
    if path.startswith(SHORT):
        return f"{SHORT}…"
    path = path.removeprefix("/-") if path.startswith("/-/") else path
    trimmed = path.rstrip("/") or "/"
    if found := _FIXED.get(trimmed):
        return found
    parts = trimmed[1:].split("/")
    if parts[0] in _MOUNTED:
        return _MOUNTED[parts[0]]
    if trimmed == "/":
        return "/"
    if len(parts) < len(ENTITIES):
        return ENTITIES[len(parts)]
    if len(parts) == 5:
        return BELOW.get(parts[4], OTHER)
    return VERSION if len(parts) == 6 and parts[4] == "versions" else OTHER


def method_of(method: str) -> str:
    """The name of a method, unless it is none that anything here knows."""
    return method if method in METHOD_NAMES else OTHER
