"""Where registries are found: the host's `/.well-known/xregistry` and the registry's own `/.xregistry`."""

from __future__ import annotations

from postroom.http.server.request import Answer, Call

NAMES = (".well-known/xregistry", ".xregistry")


def answer_discovery(call: Call) -> Answer:
    """The registries of this host (core §xRegistry Discovery, C-54): this one."""
    return Answer(json={"registries": [call.base]})
