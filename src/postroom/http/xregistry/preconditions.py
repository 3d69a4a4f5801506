"""Methods, and If-Match and If-None-Match on writes: compared with what a GET of the same URL would answer now."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from postroom.http.server.representation import GZIP_MARK, matches, tag
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.server.response_encoding import MustFetch, completed
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings

FAILED = 412
Read = Callable[[Request], Response]


def check_preconditions(request: Request, read: Read, settings: Settings) -> None:
    """Refuse a write (412) whose conditions do not hold; `read` answers a GET inside the transaction of the write."""
    wanted, unwanted = request.header("if-match"), request.header("if-none-match")
    if wanted is None and unwanted is None:
        return
    tags = _tags(request, read, settings)
    if wanted is not None and not _any(wanted, tags):
        _refuse(request, "If-Match names another state than the present one")
    if unwanted is not None and _any(unwanted, tags):
        _refuse(request, "If-None-Match names the present state")


def _any(condition: str, tags: set[str]) -> bool:
    return any(matches(condition.replace(GZIP_MARK, ""), one) for one in tags)


def _tags(request: Request, read: Read, settings: Settings) -> set[str]:
    """The tags of the plain representation and of the one that the flags of this request ask for."""
    found = set()
    for query in {(), request.query}:
        reading = msgspec.structs.replace(request, method="GET", body=b"", query=query)
        try:
            made = completed(read(reading), reading, settings, waits=False)
        except MustFetch:  # it is there, but no other host is asked while the write lock is held
            found.add("")
        except RegistryProblem:
            continue
        else:
            found.add(tag(made.headers, made.content))
    return found


def _refuse(request: Request, detail: str) -> None:
    raise RegistryProblem("bad_request", request.path, error_detail=detail, status=FAILED)


def check_method(request: Request, allowed: Iterable[str], subject: str = "", reason: str = "") -> Response | None:
    """Refuse a method that is not allowed, with the reason; the response to OPTIONS, None for any other method."""
    methods = ", ".join(sorted({*allowed, "OPTIONS"}))
    if request.method == "OPTIONS":
        return Response(headers={"Allow": methods, "Access-Control-Allow-Methods": methods})
    if request.method not in allowed:
        headers = {"allow": methods}
        raise RegistryProblem(
            "action_not_supported", subject or request.path, detail=reason, action=request.method, headers=headers
        )
    return None
