"""What each route needs, as data: the reference page shows it, and a test asks every route as every role."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Role = Literal["nobody", "credentials", "read", "write", "own", "admin"]
ROLES: tuple[Role, ...] = ("nobody", "credentials", "read", "write", "own", "admin")
"""Who asks: without credentials, with credentials and no grant, with a role. Each may do what those before it may."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """Some methods of a path that need the same, and how to ask it."""

    path: str
    methods: tuple[str, ...]
    need: Role
    on: str = ""
    """Which part of the registry the role is needed on, or what of it is shown."""
    unread: int = 403
    """What somebody is answered who has credentials and may not even read that part."""
    otherwise: int = 403
    """What somebody is answered who may read that part and lacks the role."""
    example: str = ""
    """A path to ask, where it is not the path itself."""
    body: Any = None

    def answer(self, role: Role) -> int:
        """The status that somebody with a role is refused with; 0 where they are not."""
        if ROLES.index(role) >= ROLES.index(self.need):
            return 0
        return {"nobody": 401, "credentials": self.unread}.get(role, self.otherwise)


HOST = "http://ovens.localhost"
GROUP = "/messagegroups/fleet"
MESSAGE = f"{GROUP}/messages/ride"
VERSIONS = f"{MESSAGE}/versions"
SCHEMA = "/schemagroups/fleet/schemas/ride"
SUBSCRIPTION = "/subscriptions/ID"
"""`ID` stands for the id that the service gave to it."""
LINK = "/-/replication/links/depot"
SHOWN = "shows what may be read"
_V0_5 = "/v0.5/definitionGroups"
_V0_5_MESSAGE = f"{_V0_5}/fleet/definitions/ride"
_V0_5_VERSIONS = "/v0.5/schemaGroups/fleet/schemas/ride/versions"
_V0_5_GROUP = {"id": "fleet", "format": "CloudEvents/1.0"}
_CATALOG = "/messagecatalog/fleet"
_CATALOG_MESSAGE = f"{_CATALOG}/messagedefinitions/ride"
_SUBJECT = "/confluent/subjects/:.fleet:ride"
_HOOK = {"sink": "http://127.0.0.1:1/hook", "protocol": "HTTP"}
_GRANTS = {"grants": [{"subject": "user:anna", "role": "read", "prefix": GROUP}]}
_LINK = {"remote": "http://127.0.0.1:1", "mode": "pull"}


def _open(path: str, methods: tuple[str, ...] = ("GET",), on: str = "", example: str = "") -> Route:
    return Route(path=path, methods=methods, need="nobody", on=on, example=example)


def _anyone(path: str, method: str = "GET", on: str = SHOWN, *, example: str = "", body: Any = None) -> Route:
    return Route(path=path, methods=(method,), need="credentials", on=on, example=example, body=body)


def _read(path: str, on: str, example: str) -> Route:
    return Route(path=path, methods=("GET",), need="read", on=on, unread=404, example=example)


def _write(path: str, methods: tuple[str, ...], on: str, example: str, body: Any) -> Route:
    return Route(path=path, methods=methods, need="write", on=on, example=example, body=body)


def _delete(path: str, on: str, example: str, body: Any = None) -> Route:
    return Route(path=path, methods=("DELETE",), need="write", on=on, unread=404, example=example, body=body)


def _admin(path: str, methods: tuple[str, ...], on: str = "", *, example: str = "", body: Any = None) -> Route:
    return Route(path=path, methods=methods, need="admin", on=on, example=example, body=body)


def _own_or_admin(path: str, methods: tuple[str, ...], example: str, body: Any = None) -> Route:
    on = "or one's own"
    return Route(path=path, methods=methods, need="admin", on=on, unread=404, otherwise=404, example=example, body=body)


ENTITIES: tuple[Route, ...] = (
    _anyone("/"),
    _admin("/", ("PUT", "PATCH"), "or write on `/`", body={}),
    _write("/", ("POST",), "every group in the body", "/", {"messagegroups": {"fleet": {}}}),
    _anyone("/GROUPS", example="/messagegroups"),
    _write("/GROUPS", ("PATCH", "POST"), "every group in the body", "/messagegroups", {"fleet": {}}),
    Route(
        path="/GROUPS",
        methods=("DELETE",),
        need="write",
        on="every group in the body; those that may not be read are not there",
        unread=204,
        example="/messagegroups",
        body={"fleet": {}},
    ),
    _read("/GROUPS/id", "the group, or something in it", GROUP),
    _write("/GROUPS/id", ("PUT", "PATCH"), "the group", GROUP, {}),
    _write("/GROUPS/id", ("POST",), "every resource in the body", GROUP, {"messages": {"ride": {}}}),
    _delete("/GROUPS/id", "the group", GROUP),
    _read("/GROUPS/id/RESOURCES", "the group, or something in it", f"{GROUP}/messages"),
    _write("/GROUPS/id/RESOURCES", ("PATCH", "POST"), "every resource in the body", f"{GROUP}/messages", {"ride": {}}),
    _delete("/GROUPS/id/RESOURCES", "every resource in the body", f"{GROUP}/messages", {"ride": {}}),
    _read("…/RESOURCES/id", "the resource", MESSAGE),
    _write("…/RESOURCES/id", ("PUT", "PATCH", "POST"), "the resource", MESSAGE, {}),
    _delete("…/RESOURCES/id", "the resource", MESSAGE),
    _read("…/RESOURCES/id/meta", "the resource", f"{MESSAGE}/meta"),
    _write("…/RESOURCES/id/meta", ("PUT", "PATCH"), "the resource", f"{MESSAGE}/meta", {}),
    _read("…/RESOURCES/id/versions", "the resource", VERSIONS),
    _write("…/RESOURCES/id/versions", ("PATCH", "POST"), "the resource", VERSIONS, {"1": {}}),
    _delete("…/RESOURCES/id/versions", "the resource", VERSIONS, {"1": {}}),
    _read("…/versions/id", "the resource", f"{VERSIONS}/1"),
    _write("…/versions/id", ("PUT", "PATCH"), "the resource", f"{VERSIONS}/1", {}),
    _delete("…/versions/id", "the resource", f"{VERSIONS}/1"),
    _anyone("/export"),
    _anyone("/model", on=""),
    _anyone("/modelsource", on=""),
    _admin("/modelsource", ("PUT",), body={}),
    _anyone("/capabilities", on=""),
    _admin("/capabilities", ("PUT", "PATCH"), body={}),
    _anyone("/capabilitiesoffered", on=""),
    _anyone("/.well-known/xregistry, /.xregistry", on="", example="/.xregistry"),
)
SERVICES: tuple[Route, ...] = (
    _read("/-/lint", "the entity", f"/-/lint?xid={GROUP}"),
    _anyone("/-/search", on="finds what may be read"),
    _anyone("/-/fields", on="shows fields of schemas that may be read"),
    _anyone("/match", "POST", "knows the definitions that may be read", body={}),
    Route(path="/make", methods=("POST",), need="read", on="the definition", unread=404, body={"message": MESSAGE}),
    _anyone("/changes", on="shows changes of what may be read"),
    _anyone("/subscriptions", on="shows one's own"),
    _anyone("/subscriptions", "POST", "sends changes of what may be read", body=_HOOK),
    _own_or_admin("/subscriptions/id", ("GET", "DELETE"), SUBSCRIPTION),
    _own_or_admin("/subscriptions/id", ("PUT",), SUBSCRIPTION, _HOOK),
    _own_or_admin("/subscriptions/id/delivery", ("GET",), f"{SUBSCRIPTION}/delivery"),
    _own_or_admin("/subscriptions/id/deadletters", ("GET",), f"{SUBSCRIPTION}/deadletters"),
    _own_or_admin("/subscriptions/id/resume", ("POST",), f"{SUBSCRIPTION}/resume"),
    _open(
        "/subscriptions/id/confirm",
        ("GET", "POST"),
        "with the key that the sink was sent",
        f"{SUBSCRIPTION}/confirm?key=KEY",
    ),
    _anyone("/ui"),
    _admin("/ui/-/settings", ("GET",)),
    _admin(
        "/ui/-/lake, …/lake/dead, …/lake/ledger, …/lake/table", ("GET",), "or read on `/-/lake`", example="/ui/-/lake"
    ),
    _admin("/ui/-/lake/replay", ("GET", "POST"), "or read on `/-/lake`", body="do=cancel"),
    _anyone("/ui/-/try", "GET", "knows the definitions that may be read"),
    _anyone("/ui/-/try", "POST", "knows the definitions that may be read", body="messages="),
    _anyone("/-/replication", on=""),
    _anyone("/-/replication/overview"),
    _anyone("/-/replication/entries", "POST", body=[GROUP]),
    _anyone("/-/replication/units", "POST", body=[GROUP]),
    _admin("/-/replication/batches", ("POST",), body={}),
    _admin("/-/replication/states/id", ("GET",), example="/-/replication/states/depot"),
    _admin("/-/replication/links, …/links/id", ("GET", "PUT", "DELETE"), example=LINK, body=_LINK),
    _anyone("/confluent/subjects"),
    _read("/confluent/subjects/SUBJECT/versions", "the schema", f"{_SUBJECT}/versions"),
    _write("/confluent/subjects/SUBJECT/versions", ("POST",), "the schema", f"{_SUBJECT}/versions", {"schema": "int"}),
    _anyone("/confluent/config"),
    _admin("/confluent/config", ("PUT", "DELETE"), body={"compatibility": "FULL"}),
    _anyone("/messagecatalog"),
    _read("/messagecatalog/id", "the group", _CATALOG),
    _write("/messagecatalog/id", ("PUT",), "the group", _CATALOG, {}),
    _delete("/messagecatalog/id", "the group", _CATALOG),
    _read("/messagecatalog/id/messagedefinitions", "the group, or something in it", f"{_CATALOG}/messagedefinitions"),
    _delete("/messagecatalog/id/messagedefinitions", "the group", f"{_CATALOG}/messagedefinitions"),
    _read("…/messagedefinitions/id", "the definition", _CATALOG_MESSAGE),
    _write("…/messagedefinitions/id", ("POST",), "the definition", _CATALOG_MESSAGE, {}),
    _delete("…/messagedefinitions/id", "the definition", _CATALOG_MESSAGE),
    _read("…/messagedefinitions/id/versions", "the definition", f"{_CATALOG_MESSAGE}/versions"),
    _read("…/messagedefinitions/id/versions/n", "the definition", f"{_CATALOG_MESSAGE}/versions/1"),
    _read("/messagedefinition", "the definition", f"/messagedefinition?uri={HOST}{_CATALOG_MESSAGE}/versions/1"),
    _anyone("/v0.5", example="/v0.5/"),
    _anyone("/v0.5/GROUPs", example=_V0_5),
    _write("/v0.5/GROUPs", ("POST",), "the group in the body", _V0_5, _V0_5_GROUP),
    _delete("/v0.5/GROUPs", "every group in the body", _V0_5, [{"id": "fleet"}]),
    _read("/v0.5/GROUPs/id", "the group, or something in it", f"{_V0_5}/fleet"),
    _write("/v0.5/GROUPs/id", ("PUT",), "the group", f"{_V0_5}/fleet", _V0_5_GROUP),
    _delete("/v0.5/GROUPs/id", "the group", f"{_V0_5}/fleet"),
    _read("/v0.5/GROUPs/id/RESOURCEs", "the group, or something in it", f"{_V0_5}/fleet/definitions"),
    Route(
        path="/v0.5/GROUPs/id/RESOURCEs",
        methods=("POST",),
        need="write",
        on="the resource in the body",
        unread=404,
        example=f"{_V0_5}/fleet/definitions",
        body={"id": "ride"},
    ),
    _delete("/v0.5/GROUPs/id/RESOURCEs", "every resource in the body", f"{_V0_5}/fleet/definitions", [{"id": "ride"}]),
    _read("…/RESOURCEs/id", "the resource", _V0_5_MESSAGE),
    _write("…/RESOURCEs/id", ("PUT", "POST"), "the resource", _V0_5_MESSAGE, {}),
    _delete("…/RESOURCEs/id", "the resource", _V0_5_MESSAGE),
    _read("…/RESOURCEs/id/versions", "the resource", _V0_5_VERSIONS),
    _delete("…/RESOURCEs/id/versions", "the resource", _V0_5_VERSIONS, [{"version": "1"}]),
    _read("…/RESOURCEs/id/versions/id", "the resource", f"{_V0_5_VERSIONS}/1"),
    _write("…/RESOURCEs/id/versions/id", ("PUT",), "the resource", f"{_V0_5_VERSIONS}/1", {}),
    _delete("…/RESOURCEs/id/versions/id", "the resource", f"{_V0_5_VERSIONS}/1"),
)
ACCESS: tuple[Route, ...] = (
    _open("/healthz, /readyz", example="/healthz"),
    _anyone("/openapi.json, /docs", on="", example="/openapi.json"),
    _admin("/metrics", ("GET",), "or read on `/-/metrics` or `/`"),
    _open("/-/login, /-/callback", example="/-/login"),
    _anyone("/-/logout", "POST", "ends one's own session"),
    _anyone("/-/session", on=""),
    _anyone("/-/sessions", on="shows one's own"),
    _admin("/-/sessions", ("DELETE",), "or one's own", example="/-/sessions?principal=user:ben"),
    _anyone("/-/grants", on="shows those that one has or may manage"),
    Route(path="/-/grants", methods=("PUT", "POST"), need="own", on="every prefix in the body", body=_GRANTS),
    Route(
        path="/-/grants",
        methods=("DELETE",),
        need="own",
        on="the prefix",
        example=f"/-/grants?subject=user:ben&role=read&prefix={GROUP}",
    ),
    _admin("/-/keys", ("GET",)),
    _admin("/-/keys", ("POST",), body={"id": "new"}),
    _admin("/-/keys/id", ("DELETE",), example="/-/keys/spare"),
    _admin("/-/keys/id/rotate", ("POST",), example="/-/keys/spare/rotate", body={}),
    _admin("/-/audit", ("GET",)),
)
