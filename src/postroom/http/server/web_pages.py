"""The port to web pages: what the server needs of them, and which requests are for one. The pages are handed in."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Protocol

import msgspec

from postroom.http.server.cors import READING
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.registry.paths import EntityPath, resolve
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store

if TYPE_CHECKING:
    from postroom.model.types import Model

NAME = "ui"
ROOTS = (f"/{NAME}", f"/-/{NAME}")
HTML = "text/html"
_JSON = ("application/json", "application/*")


class WebPages(Protocol):
    """Pages for people, over the registry as the one who asks sees it."""

    def answer(self, request: Request, store: Store, settings: Settings) -> Response:
        """The page of a request whose path is the one below the root of the pages, which ends its base."""

    def refuse(self, problem: RegistryProblem, request: Request, instance: str) -> Response:
        """A problem as a page."""


def prefers_page(accept: str) -> bool:
    """Whether an Accept header names HTML and prefers it to JSON; what names neither wants JSON."""
    if HTML not in accept:
        return False
    weights = dict(_weights(accept))
    wanted = weights.get(HTML, 0.0)
    return wanted > max((weights.get(name, 0.0) for name in _JSON), default=0.0)


def _weights(accept: str) -> list[tuple[str, float]]:
    found = []
    for part in accept.split(","):
        name, *parameters = (one.strip() for one in part.lower().split(";"))
        given = next((one[2:] for one in parameters if one.startswith("q=")), "1")
        try:
            found.append((name, float(given)))
        except ValueError:
            found.append((name, 0.0))
    return found


def page_request(request: Request, store: Store) -> Request | None:
    """The request as the pages see it; None for what is answered by the service itself.

    A path of the registry stands for its page where the client prefers HTML and sends no flags, unless it stands for a
    document. A Group type that is called like the root of the pages goes first.
    """
    root = _root(request.path)
    if root == ROOTS[1]:
        return _below(request, request.path.removeprefix(root), root)
    is_wanted = request.method in READING and not request.query and prefers_page(request.header("accept") or "")
    if not root and not is_wanted:
        return None
    with store.read() as tx:
        model = tx.model()
    above = ROOTS[NAME in model.groups or NAME in model.attributes]
    if root == above:
        return _below(request, request.path.removeprefix(root), root)
    return _below(request, request.path, above) if is_wanted and _stands_for_page(request.path, model) else None


def is_refused_as_page(request: Request, services: Container[str]) -> bool:
    """Whether whoever sent a request would rather read what is wrong on a page: not for services with these names."""
    if not prefers_page(request.header("accept") or ""):
        return False
    first = request.path.split("/", 2)[1]
    return bool(_root(request.path)) or (request.method in READING and first != "-" and first not in services)


def _root(path: str) -> str:
    return next((root for root in ROOTS if path == root or path.startswith(root + "/")), "")


def _stands_for_page(path: str, model: Model) -> bool:
    found = entity_path(path, model)
    return found is not None and not (found.has_document and not found.details)


def entity_path(path: str, model: Model) -> EntityPath | None:
    """The entity or collection that a path leads to by the model; None for any other path."""
    if path != "/" and path.split("/", 2)[1] not in model.groups:
        return None
    try:
        return resolve(model, path)
    except RegistryProblem:
        return None


def _below(request: Request, path: str, root: str) -> Request:
    return msgspec.structs.replace(request, path=path or "/", base=request.base + root)
