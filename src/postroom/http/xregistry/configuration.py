"""The paths beside entities: model, modelsource, capabilities, export, lint, match, make, health."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from postroom.http.server.request import Request
from postroom.http.server.request_body import MEGABYTE, parse_json
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import correlated
from postroom.http.services.lint import answer_lint
from postroom.http.services.match_and_make import answer_make, answer_match
from postroom.http.services.search import answer_fields, answer_search
from postroom.http.xregistry.read import EntityQuery, export_flags
from postroom.model.includes import CachedFetch, Fetch, expand_includes
from postroom.model.model_refused import ModelRefused
from postroom.model.render import render_model
from postroom.outbound.client import allowed_fetcher
from postroom.prometheus_text import CONTENT_TYPE
from postroom.registry.configuration.capabilities import Capabilities, read_capabilities
from postroom.registry.configuration.capabilities_update import write_capabilities
from postroom.registry.configuration.model_update import write_modelsource
from postroom.registry.configuration.offered_capabilities import offered
from postroom.registry.paths import DETAILS, EntityPath
from postroom.registry.permissions import METRICS
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.flags import parse_flags
from postroom.registry.read.render import render
from postroom.registry.read.short_urls import long_path
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.merge_attributes import as_body
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.settings import Settings
from postroom.store.interface import Store

if TYPE_CHECKING:
    from postroom.http.operations.server_process import ServerProcess

ROOT = EntityPath(kind="registry", xid="/")
NAMES = (".well-known/xregistry", ".xregistry")
"""Where registries are found: below the host's well-known names and below the registry's own root."""

METHODS: dict[str, tuple[str, ...]] = {
    "model": ("GET",),
    "modelsource": ("GET", "PUT"),
    "capabilities": ("GET", "PUT", "PATCH"),
    "capabilitiesoffered": ("GET",),
    "export": ("GET",),
    **dict.fromkeys(NAMES, ("GET",)),
    "lint": ("GET",),
    "search": ("GET",),
    "fields": ("GET",),
    "match": ("POST",),
    "make": ("POST",),
    "healthz": ("GET", "HEAD"),
    "readyz": ("GET", "HEAD"),
    "metrics": ("GET", "HEAD"),
    "openapi.json": ("GET", "HEAD"),
    "docs": ("GET", "HEAD"),
}
OURS = frozenset({"docs", "fields", "healthz", "lint", "make", "match", "metrics", "openapi.json", "readyz", "search"})
ONLY_ESCAPED = frozenset({"fields", "lint", "search"})
"""What lives under `/-/` and nowhere else."""
SERVICES = OURS.union(NAMES)
"""What says nothing about the registry's own data, and reads it as it needs."""


UNKEPT = {"Cache-Control": "no-store"}
ALIVE = Response(headers=UNKEPT, json={"status": "ok"}, cacheable=False)


def answer_service(
    name: str, request: Request, store: Store, settings: Settings, process: ServerProcess | None = None
) -> Response:
    """Answer a request to one of our own fixed names, or to discovery; its method is known to be allowed."""
    match name:
        case "healthz":
            return ALIVE
        case "readyz":
            return _ready(store, settings, process)
        case "metrics":
            return _metrics(request, store, process)
        case "openapi.json" | "docs":
            return _describe(name, request, store, settings)
        case "lint":
            return answer_lint(request, store)
        case "search":
            return answer_search(request, store)
        case "fields":
            return answer_fields(request, store)
        case "match":
            return answer_match(request, store, settings)
        case "make":
            return answer_make(request, store, settings)
        case _:
            return Response(json={"registries": [request.base]})  # core §xRegistry Discovery, C-54


def answer_probe(path: str, problem: RegistryProblem) -> Response | None:
    """The answer to a probe of a process that is well while its store is away; None when the path is no probe's."""
    match path.removeprefix("/-"):
        case "/healthz":
            return ALIVE
        case "/readyz":
            return _not_ready("full", problem.detail)
    return None


def _ready(store: Store, settings: Settings, process: ServerProcess | None) -> Response:
    if process is not None and (trouble := process.trouble()):
        return _not_ready("stopping" if process.is_stopping else "failing", trouble)
    try:
        with store.read() as tx:
            if tx.entity("/") is None:
                return _not_ready("empty", "The store holds no registry.")
    except RegistryProblem as problem:
        return _not_ready("full", problem.detail)
    if trouble := store.trouble(settings.min_free_mb * MEGABYTE):
        return _not_ready("full", trouble)
    return Response(headers=UNKEPT, json={"status": "ready"}, cacheable=False)


def _not_ready(status: str, detail: str) -> Response:
    return Response(status=503, headers=UNKEPT, json={"status": status, "detail": detail}, cacheable=False)


def _metrics(request: Request, store: Store, process: ServerProcess | None) -> Response:
    request.permissions.require_read(METRICS)
    text = process.exposed(store) if process is not None else ""
    return Response(headers={"Content-Type": CONTENT_TYPE}, content=text.encode(), cacheable=False)


def _describe(name: str, request: Request, store: Store, settings: Settings) -> Response:
    from postroom.http.operations.api_page import HEADERS, api_page
    from postroom.http.operations.openapi import openapi_document

    with store.read() as tx:
        model, capabilities = tx.model(), read_capabilities(tx)
    document = openapi_document(model, capabilities, request.base, is_guarded=settings.access == "on")
    if name == "openapi.json":
        return Response(json=document, cacheable=False)
    return Response(headers=HEADERS, content=api_page(document, f"{request.base}/-/openapi.json"), cacheable=False)


def answer_configuration(
    tx: Transaction, name: str, request: Request, capabilities: Capabilities, settings: Settings, fetch: Fetch
) -> Response:
    """Answer a request to the registry's configuration or its export; its method is known to be allowed."""
    if request.method != "GET":
        return _write(tx, name, request, capabilities, settings, fetch)
    match name:
        case "model":
            return Response(json=render_model(tx.model()))
        case "modelsource":
            return Response(json=tx.modelsource())
        case "capabilities":
            is_offer = any(name == "offered" for name, _ in request.query)  # FLAG-066: the way 1.0-rc2 asked
            return Response(json=offered(tx.rules) if is_offer else capabilities.document())
        case "capabilitiesoffered":
            return Response(json=offered(tx.rules))
        case _:
            return _export(tx, request, capabilities)


def _write(
    tx: Transaction, name: str, request: Request, capabilities: Capabilities, settings: Settings, fetch: Fetch
) -> Response:
    body = required_json(request, settings)
    if body is not None or name != "modelsource":
        as_body(body, request.path)
    work = UnitOfWork(tx, actor=request.actor, capabilities=capabilities, fetch=fetch)
    if name == "modelsource":
        write_modelsource(work, {} if body is None else body)
        made = Response(json=tx.modelsource())
    else:
        after = write_capabilities(work, body, patch=request.method == "PATCH")
        made = Response(json=after.document())
    work.finish()
    return correlated(made, work, settings)


def _export(tx: Transaction, request: Request, capabilities: Capabilities) -> Response:
    flags = export_flags(parse_flags(request.query, capabilities, request.path), capabilities)
    query = EntityQuery(tx, request, ROOT, flags, capabilities)
    if made := query.text():
        return made
    tree, view = query.entity(ROOT)
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


def fetch_includes(request: Request, settings: Settings) -> Fetch:
    """A fetch that knows what the includes of the request's model need and goes nowhere else.

    They are fetched before the store is locked for the change: a slow host must not hold writers. What is refused here
    is met again by the change itself.
    """
    fetch = CachedFetch(allowed_fetcher(settings.allow_fetch, settings.timeout_s, settings.max_document_mb))
    with suppress(RegistryProblem, ModelRefused):
        body = parse_json(request.body, settings.max_depth, request.path)
        source = body.get("modelsource") if request.path == "/" and isinstance(body, dict) else body
        if isinstance(source, dict):
            expand_includes(source, fetch)
    return fetch.cached_only()


def may_have_includes(request: Request) -> bool:
    """Whether a request brings a model."""
    return request.path.strip("/") == "modelsource" or (request.path == "/" and b"modelsource" in request.body)
