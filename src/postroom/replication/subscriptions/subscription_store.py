"""Subscriptions in a store: made, read, replaced, removed, resumed. Each function is part of one transaction."""

from __future__ import annotations

import hmac
import secrets
import uuid
from typing import Any

import msgspec

from postroom.errors import PostroomError
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.unit_of_work import timestamp
from postroom.replication.changes.cursors import LAST, sequence_of
from postroom.replication.changes.messagecatalog_events import subject_xid
from postroom.replication.subscriptions.credentials import Credential, refers
from postroom.replication.subscriptions.delivery_progress import DeliveryProgress
from postroom.replication.subscriptions.sinks.sink import Event
from postroom.replication.subscriptions.sinks.sink_table import missing_library
from postroom.replication.subscriptions.subscription import Subscription, SubscriptionRefused, parse_subscription
from postroom.settings import Settings

SUBSCRIPTION, PROGRESS, DEAD_LETTER = "subscription", "delivery", "deadletter"
MOST = 1000
LARGEST = 256 * 1024
LARGEST_TOGETHER = 8 * 1024 * 1024
"""Those of one owner together: they are in memory while they are delivered, and take many times as much there."""

_ENCODER = msgspec.json.Encoder()
_SUBSCRIPTIONS = msgspec.json.Decoder(Subscription)
_PROGRESS = msgspec.json.Decoder(DeliveryProgress)
# What decides where and how events are sent: a change of it is a reason to try again.
_SENDING = ("sink", "protocol", "protocolsettings", "sinkcredential")


class SubscriptionUnknown(LookupError):
    """There is no subscription of that id."""


def create(tx: Transaction, given: Any, base: str, settings: Settings) -> Subscription:
    """A new subscription; it begins behind the newest change, or where its `config.after` says."""
    owner = tx.permissions.principal
    if len(_owned(tx, owner)) >= MOST:
        raise SubscriptionRefused("", f"there are {MOST} subscriptions already, which is the most")
    made = parse_subscription(given, str(uuid.uuid4()), base, settings)
    made = msgspec.structs.replace(made, owner=owner)
    _check_library(made)
    _check_reference(tx, made)
    _check_size(tx, made)
    put(tx, made)
    put_progress(tx, made.id, DeliveryProgress(cursor=_start(tx, made), key=secrets.token_urlsafe(24)))
    return made


def _check_reference(tx: Transaction, made: Subscription) -> None:
    """Others could have a secret of the service sent to a sink of their own."""
    if refers(made.sinkcredential) and not tx.permissions.administers:
        raise SubscriptionRefused("/sinkcredential", "only administrators refer to secrets of the service")


def listed(tx: Transaction) -> list[Subscription]:
    """The subscriptions of whoever asks, or, for administrators, all of them, in the order of their ids."""
    found = (_SUBSCRIPTIONS.decode(body) for _, body in tx.records(SUBSCRIPTION))
    return [subscription for subscription in found if _belongs(tx, subscription)]


def read(tx: Transaction, subscription_id: str) -> Subscription:
    """One subscription; one of somebody else is as unknown as one that is not there."""
    body = tx.record(SUBSCRIPTION, subscription_id)
    found = _SUBSCRIPTIONS.decode(body) if body is not None else None
    if found is None or not _belongs(tx, found):
        raise SubscriptionUnknown(subscription_id)
    return found


def _belongs(tx: Transaction, subscription: Subscription) -> bool:
    return tx.permissions.administers or (tx.permissions.is_named and subscription.owner == tx.permissions.principal)


def _owned(tx: Transaction, owner: str) -> list[tuple[str, int]]:
    """The ids and sizes of what belongs to one owner: limits are each owner's own, so that they tell of nobody else."""
    found = ((one, body, _SUBSCRIPTIONS.decode(body)) for one, body in tx.records(SUBSCRIPTION))
    return [(one, len(body)) for one, body, subscription in found if subscription.owner == owner]


def replace(tx: Transaction, subscription_id: str, given: Any, settings: Settings) -> Subscription:
    """The subscription as a client now wants it; what was delivered before stays delivered."""
    before = read(tx, subscription_id)
    if isinstance(given, dict) and given.get("id", subscription_id) != subscription_id:
        raise SubscriptionRefused("/id", f"the id of this subscription is {subscription_id}, and it stays")
    made = parse_subscription(given, subscription_id, before.base, settings, before)
    if not made.owner:  # made while access was off: an administrator takes it over
        made = msgspec.structs.replace(made, owner=tx.permissions.principal)
    _check_library(made)
    _check_reference(tx, made)
    _check_size(tx, made)
    put(tx, made)
    progress = read_progress(tx, subscription_id)
    if made.config != before.config and made.config:
        progress = msgspec.structs.replace(progress, cursor=_start(tx, made), settled=0)
    if made.sink != before.sink:
        progress = msgspec.structs.replace(progress, status="ended")
    if any(getattr(made, name) != getattr(before, name) for name in _SENDING):
        progress = _resumed(progress)
    put_progress(tx, subscription_id, msgspec.structs.replace(progress, revision=progress.revision + 1))
    return made


def remove(tx: Transaction, subscription_id: str) -> Subscription:
    """Forget a subscription and all that belongs to it; what it was."""
    found = read(tx, subscription_id)
    for letter, _ in _dead_letters(tx, subscription_id):
        tx.delete_record(DEAD_LETTER, letter)
    tx.delete_record(PROGRESS, subscription_id)
    tx.delete_record(SUBSCRIPTION, subscription_id)
    return found


def resume(tx: Transaction, subscription_id: str, *, skip: bool = False, after: str | None = None) -> DeliveryProgress:
    """Try again at once; with `skip`, without the event that is in the way: it becomes a dead letter.

    With `after`, from that cursor on, which is the way out when changes are no longer kept.
    """
    read(tx, subscription_id)
    progress = read_progress(tx, subscription_id)
    resumed = _resumed(progress)
    if skip and progress.event is not None:
        letter = {"event": progress.event, "reason": progress.error, "skippedat": timestamp()}
        name = f"{subscription_id}/{progress.event['id']}/{progress.event['type']}"
        tx.put_record(DEAD_LETTER, name, _ENCODER.encode(letter))
        resumed = msgspec.structs.replace(resumed, settled=progress.settled + 1)
    if after is not None:
        resumed = msgspec.structs.replace(resumed, cursor=_cursor(tx, after, "/after"), settled=0)
    put_progress(tx, subscription_id, resumed)
    return resumed


def confirm(tx: Transaction, subscription_id: str, key: str, rate: int) -> bool:
    """A sink's consent by callback; False when the key is not the one it was given."""
    if tx.record(SUBSCRIPTION, subscription_id) is None:
        raise SubscriptionUnknown(subscription_id)
    progress = read_progress(tx, subscription_id)
    if not progress.key or not hmac.compare_digest(progress.key.encode(), key.encode()):
        return False
    confirmed = progress.confirmed(rate)
    put_progress(tx, subscription_id, msgspec.structs.replace(confirmed, revision=progress.revision + 1))
    return True


def dead_letters(tx: Transaction, subscription_id: str) -> list[dict[str, Any]]:
    """The events of a subscription that a person gave up, of those that whoever asks may read now."""
    read(tx, subscription_id)
    letters = [msgspec.json.decode(body) for _, body in _dead_letters(tx, subscription_id)]
    return [letter for letter in letters if _may_read(tx, letter["event"])]


def shown_progress(tx: Transaction, subscription_id: str) -> dict[str, Any]:
    """How far its delivery is, with the event that is in the way, if whoever asks may read that now."""
    read(tx, subscription_id)
    found = read_progress(tx, subscription_id)
    if found.event is not None and not _may_read(tx, found.event):
        found = msgspec.structs.replace(found, event=None)
    return found.shown()


def _may_read(tx: Transaction, event: Event) -> bool:
    """Whether an event is about something that is shown, as most are; their owners may have lost a grant since then."""
    xid = subject_xid(event["subject"])
    return xid.count("/") == 1 or tx.permissions.read.shows(xid)


def read_progress(tx: Transaction, subscription_id: str) -> DeliveryProgress:
    """How far its delivery is."""
    body = tx.record(PROGRESS, subscription_id)
    return _PROGRESS.decode(body) if body is not None else DeliveryProgress(cursor="")


def put_progress(tx: Transaction, subscription_id: str, progress: DeliveryProgress) -> None:
    """Note how far its delivery is."""
    tx.put_record(PROGRESS, subscription_id, _ENCODER.encode(progress))


def note_progress(tx: Transaction, subscription_id: str, progress: DeliveryProgress) -> bool:
    """Note how far a delivery under way is; False, and nothing noted, when a person has changed it meanwhile."""
    if tx.record(SUBSCRIPTION, subscription_id) is None:
        return False
    if read_progress(tx, subscription_id).revision != progress.revision:
        return False
    put_progress(tx, subscription_id, progress)
    return True


def keep_credential(tx: Transaction, subscription_id: str, before: Credential | None, renewed: Credential) -> None:
    """Keep a token that was had anew, unless a client has written another credential meanwhile."""
    body = tx.record(SUBSCRIPTION, subscription_id)
    found = _SUBSCRIPTIONS.decode(body) if body is not None else None
    if found is not None and found.sinkcredential == before:
        put(tx, msgspec.structs.replace(found, sinkcredential=renewed))


def put(tx: Transaction, subscription: Subscription) -> None:
    """Write a subscription, its secrets included."""
    tx.put_record(SUBSCRIPTION, subscription.id, _ENCODER.encode(subscription))


def _resumed(progress: DeliveryProgress) -> DeliveryProgress:
    """Another try; a sink that is to be asked for its consent again gets another key to give it with."""
    resumed = progress.resumed()
    is_asked = resumed.status == "unconfirmed" and not resumed.key
    return msgspec.structs.replace(resumed, key=secrets.token_urlsafe(24), rate=0) if is_asked else resumed


def _dead_letters(tx: Transaction, subscription_id: str) -> list[tuple[str, bytes]]:
    prefix = f"{subscription_id}/"
    return [found for found in tx.records(DEAD_LETTER, after=prefix) if found[0].startswith(prefix)]


def _start(tx: Transaction, made: Subscription) -> str:
    return _cursor(tx, made.config.get("after", LAST), "/config/after")


def _cursor(tx: Transaction, after: str, pointer: str) -> str:
    try:
        sequence_of(tx, after)
    except PostroomError as error:
        raise SubscriptionRefused(pointer, str(error).rstrip(".")) from None
    newest = tx.last_change()
    return after if after != LAST else (newest.mark if newest else "")


def _check_size(tx: Transaction, made: Subscription) -> None:
    size = len(_ENCODER.encode(made))
    if size > LARGEST:
        raise SubscriptionRefused("", f"a subscription of {size} bytes is too large, {LARGEST} are the most")
    others = sum(length for found, length in _owned(tx, made.owner) if found != made.id)
    if others + size > LARGEST_TOGETHER:
        sentence = f"with this one the subscriptions have {others + size} bytes, {LARGEST_TOGETHER} are the most"
        raise SubscriptionRefused("", sentence)


def _check_library(made: Subscription) -> None:
    if lacking := missing_library(made.protocol):
        raise SubscriptionRefused("/protocol", lacking)
