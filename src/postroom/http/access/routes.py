"""What each route needs, as data: the reference page shows it, and a test asks every route as every role."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Need = Literal["nothing", "credentials", "read", "write", "own", "admin"]
NEEDS: tuple[Need, ...] = ("nothing", "credentials", "read", "write", "own", "admin")
"""Each has what the ones before it have."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One route with some of its methods. `otherwise` is answered to somebody with credentials who lacks the grant."""

    path: str
    methods: tuple[str, ...]
    need: Need
    on: str = ""
    """Which part of the registry the role is needed on."""
    otherwise: int = 403
    example: str = ""
    """A path to ask, where it is not the path itself."""
    body: Any = None


_GROUP, _MESSAGE = "/messagegroups/fleet", "/messagegroups/fleet/messages/ride"
_SCHEMA = "/schemagroups/fleet/schemas/ride"

ROUTES: tuple[Route, ...] = (
    Route(path="/healthz, /readyz", methods=("GET",), need="nothing", example="/healthz"),
    Route(path="/metrics", methods=("GET",), need="admin", on="`/`, or read on `/-/metrics` or `/`"),
    Route(path="/", methods=("GET",), need="credentials", on="shows what may be read"),
    Route(path="/", methods=("PUT", "PATCH"), need="admin", on="or write on `/`", body={}),
    Route(
        path="/", methods=("POST",), need="write", on="every group in the body", body={"messagegroups": {"fleet": {}}}
    ),
    Route(path="/GROUPS", methods=("GET",), need="credentials", on="shows what may be read", example="/messagegroups"),
    Route(
        path="/GROUPS",
        methods=("POST", "PATCH"),
        need="write",
        on="every group in the body",
        example="/messagegroups",
        body={"fleet": {}},
    ),
    Route(path="/GROUPS/id", methods=("GET",), need="read", on="it, or something in it", otherwise=404, example=_GROUP),
    Route(path="/GROUPS/id", methods=("PUT", "PATCH"), need="write", on="it", example=_GROUP, body={}),
    Route(
        path="/GROUPS/id/RESOURCES",
        methods=("GET",),
        need="read",
        on="the group, or something in it",
        otherwise=404,
        example=f"{_GROUP}/messages",
    ),
    Route(
        path="/GROUPS/id/RESOURCES",
        methods=("POST", "PATCH"),
        need="write",
        on="every resource in the body",
        example=f"{_GROUP}/messages",
        body={"ride": {}},
    ),
    Route(
        path="/GROUPS/id/RESOURCES/id, …/meta, …/versions",
        methods=("GET",),
        need="read",
        on="the resource",
        otherwise=404,
        example=_MESSAGE,
    ),
    Route(
        path="/GROUPS/id/RESOURCES/id",
        methods=("PUT", "PATCH"),
        need="write",
        on="the resource",
        example=_MESSAGE,
        body={},
    ),
    Route(
        path="/model, /modelsource, /capabilities, /capabilitiesoffered",
        methods=("GET",),
        need="credentials",
        example="/model",
    ),
    Route(path="/modelsource", methods=("PUT",), need="admin", on="`/`", body={}),
    Route(path="/capabilities", methods=("PUT", "PATCH"), need="admin", on="`/`", body={}),
    Route(path="/export", methods=("GET",), need="credentials", on="shows what may be read"),
    Route(path="/changes", methods=("GET",), need="credentials", on="shows changes of what may be read"),
    Route(path="/match", methods=("POST",), need="credentials", on="knows the definitions that may be read", body={}),
    Route(
        path="/-/lint", methods=("GET",), need="read", on="the entity", otherwise=404, example=f"/-/lint?xid={_GROUP}"
    ),
    Route(path="/subscriptions", methods=("GET",), need="credentials", on="shows one's own"),
    Route(path="/-/replication/links", methods=("GET",), need="admin", on="`/`"),
    Route(path="/-/login, /-/callback", methods=("GET",), need="nothing", example="/-/login"),
    Route(path="/-/logout", methods=("POST",), need="credentials", on="ends one's own session"),
    Route(path="/-/session", methods=("GET",), need="credentials"),
    Route(path="/-/sessions", methods=("GET",), need="credentials", on="shows one's own"),
    Route(
        path="/-/sessions",
        methods=("DELETE",),
        need="admin",
        on="`/`, or one's own",
        example="/-/sessions?principal=user:ben",
    ),
    Route(path="/-/grants", methods=("GET",), need="credentials", on="shows those that one has or may manage"),
    Route(
        path="/-/grants",
        methods=("PUT", "POST"),
        need="own",
        on="every prefix in the body",
        body={"grants": [{"subject": "user:anna", "role": "read", "prefix": _GROUP}]},
    ),
    Route(
        path="/-/grants",
        methods=("DELETE",),
        need="own",
        on="the prefix",
        example=f"/-/grants?subject=user:ben&role=read&prefix={_GROUP}",
    ),
    Route(path="/-/audit", methods=("GET",), need="admin", on="`/`"),
    Route(path="/-/keys", methods=("GET",), need="admin", on="`/`"),
    Route(path="/-/keys", methods=("POST",), need="admin", on="`/`", body={"id": "new"}),
    Route(path="/-/keys/id/rotate", methods=("POST",), need="admin", on="`/`", example="/-/keys/spare/rotate", body={}),
    Route(path="/-/keys/id", methods=("DELETE",), need="admin", on="`/`", example="/-/keys/spare"),
    Route(path="/v0.5/…", methods=("GET",), need="credentials", on="shows what may be read", example="/v0.5/"),
    Route(
        path="/messagecatalog/…",
        methods=("GET",),
        need="credentials",
        on="shows what may be read",
        example="/messagecatalog",
    ),
    Route(path="/GROUPS/id", methods=("DELETE",), need="write", on="it; 404 without `read`", example=_GROUP),
)
