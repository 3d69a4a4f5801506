"""The paths beside entities: model, modelsource, capabilities, export, match, make, health."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from postroom.http.server.request import Request
from postroom.http.server.request_body import MEGABYTE, parse_json
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import correlated
from postroom.http.services.match_and_make import answer_make, answer_match
from postroom.http.xregistry.discovery import NAMES, answer_discovery
from postroom.http.xregistry.model_includes import fetched_includes
from postroom.http.xregistry.read import EntityReader, export_flags
from postroom.model.render import render_model
from postroom.registry.configuration.capabilities import read_capabilities, write_capabilities
from postroom.registry.configuration.model_update import write_modelsource
from postroom.registry.configuration.offered_capabilities import offered
from postroom.registry.paths import DETAILS, Place
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import parse_flags
from postroom.registry.read.render import render
from postroom.registry.read.short_urls import long_path
from postroom.registry.transaction import Transaction
from postroom.registry.write.unit_of_work import Interaction
from postroom.settings import Settings
from postroom.store.checked_write import write_checked
from postroom.store.interface import Store

ROOT = Place(kind="registry", xid="/")

METHODS: dict[str, tuple[str, ...]] = {
    "model": ("GET",),
    "modelsource": ("GET", "PUT"),
    "capabilities": ("GET", "PUT", "PATCH"),
    "capabilitiesoffered": ("GET",),
    "export": ("GET",),
    **dict.fromkeys(NAMES, ("GET",)),
    "match": ("POST",),
    "make": ("POST",),
    "healthz": ("GET", "HEAD"),
    "readyz": ("GET", "HEAD"),
}
OURS = frozenset({"healthz", "make", "match", "readyz"})


def answer_configuration(name: str, request: Request, store: Store, settings: Settings) -> Response:
    """Answer a request to one of the fixed names; its method is known to be allowed."""
    match name:
        case "healthz":
            return Response(json={"status": "ok"})
        case "readyz":
            return _ready(store, settings)
        case "match":
            return answer_match(request, store, settings)
        case "make":
            return answer_make(request, store, settings)
        case _ if name in NAMES:
            return answer_discovery(request)
        case "model":
            with store.read() as tx:
                return Response(json=render_model(tx.model()))
        case "modelsource":
            return _modelsource(request, store, settings)
        case "capabilitiesoffered":
            with store.read() as tx:
                return Response(json=offered(tx.rules))
        case "capabilities":
            return _capabilities(request, store, settings)
        case _:
            return _export(request, store)


def _ready(store: Store, settings: Settings) -> Response:
    with store.read() as tx:
        if tx.entity("/") is None:
            return Response(status=503, json={"status": "empty"}, cacheable=False)
    if trouble := store.trouble(settings.min_free_mb * MEGABYTE):
        return Response(status=503, json={"status": "full", "detail": trouble}, cacheable=False)
    return Response(json={"status": "ready"}, cacheable=False)


def _modelsource(request: Request, store: Store, settings: Settings) -> Response:
    if request.method == "GET":
        with store.read() as tx:
            return Response(json=tx.modelsource())
    source = required_json(request, settings)
    fetch = fetched_includes(source, settings)

    def write(tx: Transaction) -> Response:
        interaction = Interaction(tx, actor=request.actor)
        interaction.fetch = fetch
        write_modelsource(interaction, {} if source is None else source)
        interaction.finish()
        return correlated(Response(json=tx.modelsource()), interaction, settings)

    return write_checked(store, write)


def _capabilities(request: Request, store: Store, settings: Settings) -> Response:
    if request.method == "GET":
        with store.read() as tx:
            is_offer = any(name == "offered" for name, _ in request.query)  # FLAG-066: the way 1.0-rc2 asked
            return Response(json=offered(tx.rules) if is_offer else read_capabilities(tx).document())
    written = required_json(request, settings)
    if written is None:
        raise RegistryProblem("capability_error", "/capabilities", error_detail="they must be a JSON object")
    with store.write() as tx:
        interaction = Interaction(tx, actor=request.actor)
        after = write_capabilities(interaction, written, patch=request.method == "PATCH")
        interaction.finish()
        return correlated(Response(json=after.document()), interaction, settings)


def _export(request: Request, store: Store) -> Response:
    with store.read() as tx:
        capabilities = read_capabilities(tx)
        flags = export_flags(parse_flags(request.query, capabilities, request.path), capabilities)
        reader = EntityReader(tx, request, ROOT, flags, capabilities)
        if made := reader.text():
            return made
        tree, view = reader.entity(ROOT)
    return Response(json=render(tree, view))


def answer_short(request: Request, store: Store) -> Response:
    """Lead from a short URL to the long one; suffix and flags go along."""
    path = request.path.removesuffix(DETAILS)
    with store.read() as tx:
        xid = long_path(tx, path)
    if xid is None:
        raise RegistryProblem("not_found", request.path)
    query = f"?{urlencode(request.query, quote_via=quote)}" if request.query else ""
    return Response(status=308, headers={"Location": request.base + xid + request.path[len(path) :] + query})


def required_json(request: Request, settings: Settings) -> Any:
    """The JSON of a body that has to be there."""
    if not request.body.strip():
        raise RegistryProblem("missing_body", request.path)
    return parse_json(request.body, settings.max_depth, request.path)
