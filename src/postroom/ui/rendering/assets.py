"""Stylesheet, scripts and icon: read from the package once, and addressed by their digests, so that they are kept."""

from __future__ import annotations

import functools
import hashlib
from importlib.resources import files

from postroom.http.server.response import Response
from postroom.registry.problems import RegistryProblem

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


@functools.cache
def _assets() -> dict[str, tuple[str, bytes]]:
    """The content of each asset and its type, by the name that has its digest in it."""
    found = {}
    for one in files("postroom.ui").joinpath("assets").iterdir():
        stem, _, suffix = one.name.rpartition(".")
        content = one.read_bytes()
        digest = hashlib.blake2b(content, digest_size=8).hexdigest()
        found[f"{stem}.{digest}.{suffix}"] = TYPES[f".{suffix}"], content
    return found


@functools.cache
def asset_name(name: str) -> str:
    """The name by which an asset is asked for."""
    stem, _, suffix = name.rpartition(".")
    return next(one for one in _assets() if one.startswith(stem + ".") and one.endswith("." + suffix))


def asset(name: str) -> Response:
    """An asset by its name with the digest; another digest is that of another version of Postroom."""
    found = _assets().get(name)
    if found is None:
        raise RegistryProblem("api_not_found", f"/ui/-/assets/{name}")
    return Response(headers={"Content-Type": found[0], **HEADERS}, content=found[1], root_link=False)
