"""Our own services beside the entities of the model, as data: what `/openapi.json` says of each of their operations."""

from __future__ import annotations

import msgspec


class ServiceOperation(msgspec.Struct, frozen=True):
    """One method of a path of our own, `{…}` for what varies."""

    method: str
    path: str
    summary: str
    query: tuple[str, ...] = ()
    content: str = "application/json"
    """The media type of what it answers; empty where there is no body."""
    takes_body: bool = False


_TEXT, _PAGE = "text/plain", "text/html"

CONFIGURATION: tuple[ServiceOperation, ...] = (
    ServiceOperation("GET", "/model", "The model in force, complete"),
    ServiceOperation("GET", "/modelsource", "The model as it was written"),
    ServiceOperation("PUT", "/modelsource", "Replace the model", takes_body=True),
    ServiceOperation("GET", "/capabilities", "What the registry does at present"),
    ServiceOperation("PUT", "/capabilities", "Replace the capabilities", takes_body=True),
    ServiceOperation("PATCH", "/capabilities", "Change some capabilities", takes_body=True),
    ServiceOperation("GET", "/capabilitiesoffered", "What the registry could do"),
    ServiceOperation("GET", "/export", "The whole registry as one document"),
    ServiceOperation("GET", "/.well-known/xregistry", "The registries of this host"),
    ServiceOperation("GET", "/.xregistry", "The registries of this host"),
)
"""Paths of the xRegistry API that no model changes."""

SERVICES: tuple[ServiceOperation, ...] = (
    ServiceOperation("GET", "/-/lint", "What lint has to say about an entity", ("xid",)),
    ServiceOperation(
        "GET",
        "/-/search",
        "Find entities by words, with counts by facet",
        ("q", "kind", "group", "format", "envelope", "protocol", "limit", "offset"),
    ),
    ServiceOperation(
        "GET", "/-/fields", "The fields of payloads, and where they are", ("q", "shared", "after", "limit")
    ),
    ServiceOperation(
        "POST", "/match", "Which definition each record fits", ("endpoint", "nulls", "explain"), takes_body=True
    ),
    ServiceOperation("POST", "/make", "Messages made from a definition", takes_body=True),
    ServiceOperation(
        "GET", "/changes", "What happened, as events or as a stream", ("after", "limit", "xid", "values", "events")
    ),
    ServiceOperation("GET", "/subscriptions", "One's own subscriptions"),
    ServiceOperation("POST", "/subscriptions", "Subscribe to changes", takes_body=True),
    ServiceOperation("GET", "/subscriptions/{id}", "A subscription"),
    ServiceOperation("PUT", "/subscriptions/{id}", "Change a subscription", takes_body=True),
    ServiceOperation("DELETE", "/subscriptions/{id}", "End a subscription", content=""),
    ServiceOperation("GET", "/subscriptions/{id}/delivery", "How its delivery is doing"),
    ServiceOperation("GET", "/subscriptions/{id}/deadletters", "Events that could not be delivered"),
    ServiceOperation("POST", "/subscriptions/{id}/resume", "Deliver again"),
    ServiceOperation("GET", "/subscriptions/{id}/confirm", "Consent to get events, by the sink", ("key",)),
    ServiceOperation("POST", "/subscriptions/{id}/confirm", "Consent to get events, by the sink", ("key",)),
    ServiceOperation("GET", "/-/replication", "What this catalog offers to others that copy it"),
    ServiceOperation("GET", "/-/replication/overview", "Digests of what there is to copy"),
    ServiceOperation("POST", "/-/replication/entries", "Digests of some parts", takes_body=True),
    ServiceOperation("POST", "/-/replication/units", "Entities to copy", takes_body=True),
    ServiceOperation("POST", "/-/replication/batches", "Push entities into this catalog", takes_body=True),
    ServiceOperation("GET", "/-/replication/states/{id}", "How far another catalog has pushed"),
    ServiceOperation("GET", "/-/replication/links", "The links that the service runs"),
    ServiceOperation("GET", "/-/replication/links/{id}", "A link and how it is doing"),
    ServiceOperation("PUT", "/-/replication/links/{id}", "Make or change a link", takes_body=True),
    ServiceOperation("DELETE", "/-/replication/links/{id}", "Remove a link", content=""),
    ServiceOperation("GET", "/-/login", "Sign in with a browser", ("next",), content=""),
    ServiceOperation("GET", "/-/callback", "Where the OpenID provider sends a browser back to", ("code", "state"), ""),
    ServiceOperation("POST", "/-/logout", "Sign out", content=""),
    ServiceOperation("GET", "/-/session", "Who asks, and what they may do"),
    ServiceOperation("GET", "/-/sessions", "Sessions of people who signed in with a browser"),
    ServiceOperation("DELETE", "/-/sessions", "End sessions", ("principal",)),
    ServiceOperation("GET", "/-/grants", "The grants that one has or may manage"),
    ServiceOperation("PUT", "/-/grants", "Replace grants", takes_body=True),
    ServiceOperation("POST", "/-/grants", "Add grants", takes_body=True),
    ServiceOperation("DELETE", "/-/grants", "Take a grant back", ("subject", "role", "prefix")),
    ServiceOperation("GET", "/-/keys", "The API keys, without their secrets"),
    ServiceOperation("POST", "/-/keys", "Make an API key; the answer shows its secret once", takes_body=True),
    ServiceOperation("DELETE", "/-/keys/{id}", "Revoke an API key"),
    ServiceOperation("POST", "/-/keys/{id}/rotate", "Give an API key a new secret"),
    ServiceOperation("GET", "/-/audit", "Sign-ins, refusals, and changes of keys and grants"),
    ServiceOperation("GET", "/healthz", "Whether the process is alive"),
    ServiceOperation("GET", "/readyz", "Whether the process should get requests"),
    ServiceOperation("GET", "/metrics", "Numbers for Prometheus", content=_TEXT),
    ServiceOperation("GET", "/openapi.json", "This description"),
    ServiceOperation("GET", "/docs", "This description as a page", content=_PAGE),
)
"""The older services (`/v0.5`, `/messagecatalog`) describe themselves."""
