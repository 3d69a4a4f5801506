"""Whole services beside the xRegistry API, each under a name of its own: the older dialects, changes, subscriptions.

A mount answers every path and method below its name, in its own words: it gets the request with the path below its name
and the base that its links begin with, and raises RegistryProblem only where the xRegistry problem document is right.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from postroom.http.access.administration import (
    answer_audit,
    answer_grants,
    answer_keys,
    answer_session,
    answer_sessions,
)
from postroom.http.confluent.mount import answer_confluent, refusal_of
from postroom.http.messagecatalog.mount import PRINTED_LOOKUP, answer_catalog, answer_lookup
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.services.changes import answer_changes
from postroom.http.services.replication import answer_replication
from postroom.http.services.subscriptions import answer_subscriptions
from postroom.http.v0_5.mount import answer_v0_5
from postroom.model.types import Model
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store

Mount = Callable[[Request, Store, Settings], Response]

MOUNTS: dict[str, Mount] = {
    "audit": answer_audit,
    "changes": answer_changes,
    "confluent": answer_confluent,
    "grants": answer_grants,
    "keys": answer_keys,
    "messagecatalog": answer_catalog,
    "messagedefinition": answer_lookup,
    "replication": answer_replication,
    "session": answer_session,
    "sessions": answer_sessions,
    "subscriptions": answer_subscriptions,
    "v0.5": answer_v0_5,
}

REFUSALS = {"confluent": refusal_of}
"""Mounts whose clients understand no problem documents, not even for requests that do not come as far as the mount."""
OTHER_SPELLINGS = {PRINTED_LOOKUP: "messagedefinition"}
"""Names of mounts that are met in another spelling, in lower case."""
ONLY_ESCAPED = frozenset({"audit", "grants", "keys", "replication", "session", "sessions"})
"""What lives under `/-/` and nowhere else."""

OTHER_APIS = {
    "v0.5": "Registry Service 0.5",
    "messagecatalog": "Message and Event Catalog",
    "confluent": "Schema Registry",
}
"""Older services over this registry, by their paths."""


def links_to_other_apis(base: str, model: Model) -> tuple[str, ...]:
    """Links from the root of the registry to where clients of other texts find it."""
    return tuple(
        f'<{base}/{name if _is_free(name, model) else f"-/{name}"}>;rel=alternate;title="{title}"'
        for name, title in OTHER_APIS.items()
    )


def mounted(request: Request, store: Store) -> tuple[Mount, Request] | None:
    """The mount of a request and the request as the mount sees it; a Group type of the same name goes first."""
    parts = request.path.removeprefix("/").split("/")
    is_escaped = parts[0] == "-"
    given = "/".join(parts[1:2]) if is_escaped else parts[0]
    name = OTHER_SPELLINGS.get(given.lower(), given)
    if name not in MOUNTS or not (is_escaped or (name not in ONLY_ESCAPED and is_free(name, store))):
        return None
    above = "/-/" if is_escaped else "/"
    path = request.path.removeprefix(above + given) or "/"
    return MOUNTS[name], msgspec.structs.replace(request, path=path, base=f"{request.base}{above}{name}")


def own_refusal(path: str) -> Callable[[RegistryProblem], Response] | None:
    """What refuses a request in the words of the mount that its path leads to."""
    parts = path.removeprefix("/").split("/")
    return REFUSALS.get(parts[1] if parts[0] == "-" and len(parts) > 1 else parts[0])


def is_free(name: str, store: Store) -> bool:
    """Whether the model has nothing of that name, so that the path below the root is ours."""
    with store.read() as tx:
        return _is_free(name, tx.model())


def _is_free(name: str, model: Model) -> bool:
    return name not in model.groups and name not in model.attributes
