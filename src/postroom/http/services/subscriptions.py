"""`/subscriptions`: the CloudEvents Subscriptions API, and what a person needs to look after deliveries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.http.server.request import Answer, Call
from postroom.http.server.request_body import parse_json
from postroom.protocols.cloudevents import is_json, media_type
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
Handler = Callable[[Call, Store, Settings, str], Answer]


def answer_subscriptions(call: Call, store: Store, settings: Settings) -> Answer:
    """Answer a request to the collection, to a subscription, or to one of its delivery's paths."""
    subscription_id, _, rest = call.path.strip("/").partition("/")
    handlers = _HANDLERS.get(rest if subscription_id else None)
    if handlers is None:
        raise RegistryProblem("api_not_found", NAME + call.path)
    methods = ", ".join(sorted((*handlers, "OPTIONS")))
    if call.method == "OPTIONS":
        return Answer(headers={"Allow": methods, "Access-Control-Allow-Methods": methods})
    handler = handlers.get("GET" if call.method == "HEAD" else call.method)
    subject = NAME + call.path.rstrip("/")
    if handler is None:
        raise RegistryProblem("action_not_supported", subject, action=call.method, headers={"allow": methods})
    try:
        return handler(call, store, settings, subscription_id)
    except SubscriptionUnknown:
        raise RegistryProblem("not_found", f"{NAME}/{subscription_id}") from None
    except SubscriptionRefused as refusal:
        detail = f"{refusal.pointer} {refusal.sentence}".strip()
        raise RegistryProblem("bad_request", subject, error_detail=detail, pointer=refusal.pointer) from None


def _list(call: Call, store: Store, settings: Settings, _: str) -> Answer:
    with store.read() as tx:
        return Answer(json=[found.shown() for found in subscription_store.listed(tx)])


def _create(call: Call, store: Store, settings: Settings, _: str) -> Answer:
    given = _document(call, settings)
    root = call.base.removesuffix(NAME).removesuffix("/-")
    with store.write() as tx:
        made = subscription_store.create(tx, given, root, settings)
    return Answer(status=201, headers={"Location": f"{call.base}/{made.id}"}, json=made.shown())


def _read(call: Call, store: Store, settings: Settings, subscription_id: str) -> Answer:
    with store.read() as tx:
        return Answer(json=subscription_store.read(tx, subscription_id).shown())


def _replace(call: Call, store: Store, settings: Settings, subscription_id: str) -> Answer:
    given = _document(call, settings)
    with store.write() as tx:
        return Answer(json=subscription_store.replace(tx, subscription_id, given, settings).shown())


def _remove(call: Call, store: Store, settings: Settings, subscription_id: str) -> Answer:
    with store.write() as tx:
        return Answer(json=subscription_store.remove(tx, subscription_id).shown())


def _delivery(call: Call, store: Store, settings: Settings, subscription_id: str) -> Answer:
    with store.read() as tx:
        subscription_store.read(tx, subscription_id)
        return Answer(json=subscription_store.read_progress(tx, subscription_id).shown())


def _letters(call: Call, store: Store, settings: Settings, subscription_id: str) -> Answer:
    with store.read() as tx:
        return Answer(json=subscription_store.letters(tx, subscription_id))


def _resume(call: Call, store: Store, settings: Settings, subscription_id: str) -> Answer:
    query = dict(call.query)
    with store.write() as tx:
        resumed = subscription_store.resume(tx, subscription_id, skip="skip" in query, after=query.get("after"))
    return Answer(json=resumed.shown())


def _confirm(call: Call, store: Store, settings: Settings, subscription_id: str) -> Answer:
    """A sink's consent, given by a program or by a person with a browser (WH 4.1.3); a wrong key finds nothing."""
    try:
        rate = parse_rate(call.header("webhook-allowed-rate") or "*")
    except DeliveryFailed as failure:
        raise RegistryProblem("bad_request", NAME, error_detail=failure.sentence) from None
    with store.write() as tx:
        if not subscription_store.confirm(tx, subscription_id, dict(call.query).get("key", ""), rate):
            raise SubscriptionUnknown(subscription_id)
    return Answer(json={"status": "active"}, cacheable=False)


def _document(call: Call, settings: Settings) -> Any:
    stated = call.header("content-type") or ""
    if not is_json(stated) and media_type(stated) != UNSAID:
        detail = f"a subscription is JSON, not {stated[:80]}"
        raise RegistryProblem("bad_request", NAME + call.path.rstrip("/"), error_detail=detail, status=415)
    if not call.body.strip():
        raise RegistryProblem("missing_body", NAME + call.path.rstrip("/"))
    return parse_json(call.body, settings.max_depth, NAME + call.path.rstrip("/"))


_HANDLERS: dict[str | None, dict[str, Handler]] = {
    None: {"GET": _list, "POST": _create},
    "": {"GET": _read, "PUT": _replace, "DELETE": _remove},
    "delivery": {"GET": _delivery},
    "deadletters": {"GET": _letters},
    "resume": {"POST": _resume},
    "confirm": {"GET": _confirm, "POST": _confirm},
}
