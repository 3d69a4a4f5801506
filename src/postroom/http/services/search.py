"""`/-/search` and `/-/fields`: what the search index finds, as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.registry.problems import RegistryProblem
from postroom.registry.search import field_list
from postroom.registry.search.field_list import FieldsRequest, list_fields
from postroom.registry.search.index_rows import FACETS
from postroom.registry.search.search import USUAL, SearchRequest, search
from postroom.store.interface import Store


def answer_search(request: Request, store: Store) -> Response:
    """Hits, and counts by facet."""
    given = _given(request, ("q", "limit", "offset", *FACETS))
    wanted = SearchRequest(
        q=given.get("q", ""),
        facets={name: value for name in FACETS if (value := given.get(name))},
        limit=_number(request, given, "limit", USUAL),
        offset=_number(request, given, "offset", 0),
    )
    with store.read() as tx:
        return _json(search(tx, wanted))


def answer_fields(request: Request, store: Store) -> Response:
    """The fields of payloads."""
    given = _given(request, ("q", "shared", "after", "limit"))
    shared = given.get("shared", "false")
    if shared not in ("", "true", "false"):
        raise RegistryProblem("bad_request", request.path, error_detail="shared is true or false")
    wanted = FieldsRequest(
        q=given.get("q", ""),
        is_shared=shared != "false",
        after=given.get("after", ""),
        limit=_number(request, given, "limit", field_list.USUAL),
    )
    with store.read() as tx:
        return _json(list_fields(tx, wanted))


def _given(request: Request, names: tuple[str, ...]) -> dict[str, str]:
    unknown = next((name for name, _ in request.query if name not in names), None)
    if unknown is not None:
        detail = f"{unknown} is no parameter here, only {', '.join(names)}"
        raise RegistryProblem("bad_request", request.path, error_detail=detail)
    return dict(reversed(request.query))


def _number(request: Request, given: dict[str, str], name: str, usual: int) -> int:
    text = given.get(name) or str(usual)
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise RegistryProblem("bad_request", request.path, error_detail=f"{name} must be a number, and is {text!r}")
    return int(text)


def _json(result: Any) -> Response:
    return Response(json=msgspec.to_builtins(result))
