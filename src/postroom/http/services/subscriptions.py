"""`/subscriptions`: the CloudEvents Subscriptions API, and what a person needs to look after deliveries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.http.server.response import Response
from postroom.protocols.cloudevents import is_json, media_type
from postroom.registry.permissions import UNRESTRICTED
from postroom.registry.problems import RegistryProblem
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.sinks.http import parse_rate
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed
from postroom.replication.subscriptions.subscription import SubscriptionRefused
from postroom.replication.subscriptions.subscription_store import SubscriptionUnknown
from postroom.settings import Settings
from postroom.store.interface import Store

NAME = "/subscriptions"
UNSAID = "application/x-www-form-urlencoded"
"""What curl says of a body when nobody tells it."""
CHALLENGE = 'Bearer realm="postroom", Basic realm="postroom"'
CONFIRM = "confirm"
"""What a sink is asked to call, with a key of its own."""
Handler = Callable[[Request, Store, Settings, str], Response]


def answer_subscriptions(request: Request, store: Store, settings: Settings) -> Response:
    """Answer a request to the collection, to a subscription, or to one of its delivery's paths."""
    subscription_id, _, rest = request.path.strip("/").partition("/")
    handlers = _HANDLERS.get(rest if subscription_id else None)
    if handlers is None:
        raise RegistryProblem("api_not_found", NAME + request.path)
    methods = ", ".join(sorted((*handlers, "OPTIONS")))
    if request.method == "OPTIONS":
        return Response(headers={"Allow": methods, "Access-Control-Allow-Methods": methods})
    handler = handlers.get("GET" if request.method == "HEAD" else request.method)
    subject = NAME + request.path.rstrip("/")
    if handler is None:
        raise RegistryProblem("action_not_supported", subject, action=request.method, headers={"allow": methods})
    if rest != CONFIRM and request.permissions is not UNRESTRICTED and not request.permissions.is_named:
        detail = "a subscription belongs to whoever makes it, so credentials are needed"
        raise RegistryProblem("unauthorized", subject, error_detail=detail, headers={"www-authenticate": CHALLENGE})
    try:
        made = handler(request, store, settings, subscription_id)
        # Others with the same permissions share cached answers, and have other subscriptions.
        return made if request.permissions is UNRESTRICTED else msgspec.structs.replace(made, cacheable=False)
    except SubscriptionUnknown:
        raise RegistryProblem("not_found", f"{NAME}/{subscription_id}") from None
    except SubscriptionRefused as refusal:
        detail = f"{refusal.pointer} {refusal.sentence}".strip()
        raise RegistryProblem("bad_request", subject, error_detail=detail, pointer=refusal.pointer) from None


def _list(request: Request, store: Store, settings: Settings, _: str) -> Response:
    with store.read() as tx:
        return Response(json=[found.shown() for found in subscription_store.listed(tx)])


def _create(request: Request, store: Store, settings: Settings, _: str) -> Response:
    given = _document(request, settings)
    root = request.base.removesuffix(NAME).removesuffix("/-")
    with store.write() as tx:
        made = subscription_store.create(tx, given, root, settings)
    return Response(status=201, headers={"Location": f"{request.base}/{made.id}"}, json=made.shown())


def _read(request: Request, store: Store, settings: Settings, subscription_id: str) -> Response:
    with store.read() as tx:
        return Response(json=subscription_store.read(tx, subscription_id).shown())


def _replace(request: Request, store: Store, settings: Settings, subscription_id: str) -> Response:
    given = _document(request, settings)
    with store.write() as tx:
        return Response(json=subscription_store.replace(tx, subscription_id, given, settings).shown())


def _remove(request: Request, store: Store, settings: Settings, subscription_id: str) -> Response:
    with store.write() as tx:
        return Response(json=subscription_store.remove(tx, subscription_id).shown())


def _delivery(request: Request, store: Store, settings: Settings, subscription_id: str) -> Response:
    with store.read() as tx:
        return Response(json=subscription_store.shown_progress(tx, subscription_id))


def _letters(request: Request, store: Store, settings: Settings, subscription_id: str) -> Response:
    with store.read() as tx:
        return Response(json=subscription_store.dead_letters(tx, subscription_id))


def _resume(request: Request, store: Store, settings: Settings, subscription_id: str) -> Response:
    query = dict(request.query)
    with store.write() as tx:
        resumed = subscription_store.resume(tx, subscription_id, skip="skip" in query, after=query.get("after"))
    return Response(json=resumed.shown())


def _confirm(request: Request, store: Store, settings: Settings, subscription_id: str) -> Response:
    """A sink's consent, given by a program or by a person with a browser (WH 4.1.3); a wrong key finds nothing."""
    try:
        rate = parse_rate(request.header("webhook-allowed-rate") or "*")
    except DeliveryFailed as failure:
        raise RegistryProblem("bad_request", NAME, error_detail=failure.sentence) from None
    with store.write() as tx:
        if not subscription_store.confirm(tx, subscription_id, dict(request.query).get("key", ""), rate):
            raise SubscriptionUnknown(subscription_id)
    return Response(json={"status": "active"}, cacheable=False)


def _document(request: Request, settings: Settings) -> Any:
    stated = request.header("content-type") or ""
    if not is_json(stated) and media_type(stated) != UNSAID:
        detail = f"a subscription is JSON, not {stated[:80]}"
        raise RegistryProblem("bad_request", NAME + request.path.rstrip("/"), error_detail=detail, status=415)
    if not request.body.strip():
        raise RegistryProblem("missing_body", NAME + request.path.rstrip("/"))
    return parse_json(request.body, settings.max_depth, NAME + request.path.rstrip("/"))


_HANDLERS: dict[str | None, dict[str, Handler]] = {
    None: {"GET": _list, "POST": _create},
    "": {"GET": _read, "PUT": _replace, "DELETE": _remove},
    "delivery": {"GET": _delivery},
    "deadletters": {"GET": _letters},
    "resume": {"POST": _resume},
    CONFIRM: {"GET": _confirm, "POST": _confirm},
}
