"""Where registries are found: the host's `/.well-known/xregistry` and the registry's own `/.xregistry`."""

from __future__ import annotations

from postroom.http.server.request import Request
from postroom.http.server.response import Response

NAMES = (".well-known/xregistry", ".xregistry")


def answer_discovery(request: Request) -> Response:
    """The registries of this host (core §xRegistry Discovery, C-54): this one."""
    return Response(json={"registries": [request.base]})
