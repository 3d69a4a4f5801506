"""The includes of a model that a request brings: fetched before the store is locked for the change."""

from __future__ import annotations

from contextlib import suppress

from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.model.includes import CachedFetch, Fetch, expand_includes
from postroom.model.model_refused import ModelRefused
from postroom.outbound.client import allowed_fetcher
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings


def fetch_includes(request: Request, settings: Settings) -> Fetch:
    """A fetch that knows what the includes of the request's model need and goes nowhere else.

    A slow host must not hold writers. What is refused here is met again by the change itself.
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
