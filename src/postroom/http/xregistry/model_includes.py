"""The includes of a model that a request brings: fetched before the store is locked for the change."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.model.includes import CachedFetch, Fetch, expand_includes
from postroom.model.model_refused import ModelRefused
from postroom.outbound import allowed_fetcher
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings


def fetched_includes(source: Any, settings: Settings) -> Fetch:
    """A fetch that knows what the includes of a model need and goes nowhere else: a slow host must not hold writers."""
    fetch = CachedFetch(allowed_fetcher(settings.allow_fetch, settings.timeout_s, settings.max_document_mb))
    if isinstance(source, dict):
        # A refusal is met again by the change itself, in its place among all others.
        with suppress(ModelRefused):
            expand_includes(source, fetch)
    return fetch.cached_only()


def fetched_for(request: Request, settings: Settings) -> Fetch:
    """The same for a write to the Registry, whose body may hold a model."""
    source = None
    if request.path == "/" and b"modelsource" in request.body:
        with suppress(RegistryProblem):
            body = parse_json(request.body, settings.max_depth, request.path)
            source = body.get("modelsource") if isinstance(body, dict) else None
    return fetched_includes(source, settings)
