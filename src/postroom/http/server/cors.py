"""Requests from web pages of other origins (CORS): named origins may read and write, `*` lets all of them read."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from postroom.http.server.request import Request
from postroom.registry.problems import RegistryProblem

ANY = "*"
READING = frozenset({"GET", "HEAD", "OPTIONS"})
EXPOSED = ("Link", "Location", "Content-Location", "Content-Disposition", "ETag", "Allow")
_OWN = ("xregistry-", "postroom-")


def refuse_foreign_writes(request: Request, origins: Collection[str]) -> None:
    """Refuse a write that a page of another origin sends: browsers send simple ones without asking first."""
    origin = request.header("origin")
    if origin is None or request.method in READING or origin in origins or origin == _origin(request.base):
        return
    detail = f"pages of {origin} may not change this registry"
    raise RegistryProblem("bad_request", request.path, error_detail=detail, status=403)


def sharing_headers(request: Request, origins: Collection[str], names: Iterable[str] = ()) -> dict[str, str]:
    """The headers that let a page of another origin see the answer, whose headers have these names."""
    origin = request.header("origin")
    method = request.header("access-control-request-method") or request.method
    if origin is None:
        return {}
    if origin in origins:
        allowed = {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
    elif ANY in origins and method in READING:
        allowed = {"Access-Control-Allow-Origin": ANY}
    else:
        return {"Vary": "Origin"}
    if request.header("access-control-request-method") is None:
        own = [name for name in names if name.lower().startswith(_OWN)]
        return {**allowed, "Access-Control-Expose-Headers": ", ".join((*EXPOSED, *own))}
    wanted = request.header("access-control-request-headers") or ""
    safe = ", ".join(name for part in wanted.split(",") if _is_token(name := part.strip()))
    return {**allowed, **({"Access-Control-Allow-Headers": safe} if safe else {}), "Access-Control-Max-Age": "600"}


def _origin(base: str) -> str:
    scheme, _, rest = base.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def _is_token(text: str) -> bool:
    return text.isascii() and text.replace("-", "").replace("_", "").replace(".", "").isalnum()
