"""The audit of access: who signed in, who was refused, and who changed keys and grants; bounded, in batches."""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

import msgspec

from postroom.access.grants import Grant
from postroom.access.keys import without_secrets
from postroom.errors import AccessRefused
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.store.interface import Store

LOG = logging.getLogger(__name__)
AUDIT = "audit"
"""The kind of the records in a store; their ids are in the order of their times."""
MOST_PENDING = 1000
MOST_KEPT = 100_000
MOST_SHOWN = 1000
SIGN_IN_SECONDS = 3600.0
"""How long somebody who comes again and again, from one address, has signed in once."""
SEEN_SECONDS = 60.0
"""How long it is not noted again that they are still there: that is looked at with every request."""
LONGEST_PATH = 500
_PAGE = 2000

Event = Literal["signin", "signout", "refused", "forbidden", "changed"]
EVENTS: tuple[Event, ...] = get_args(Event)


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happened; nothing in it is secret."""

    time: str
    event: Event
    principal: str = ""
    """Who it was, or for whom somebody gave themselves out."""
    address: str = ""
    method: str = ""
    path: str = ""
    """Without its query."""
    detail: str = ""
    count: int = 1
    """How often it happened in the same way, shortly after one another."""


_RECORDS: msgspec.json.Decoder[AuditRecord] = msgspec.json.Decoder(AuditRecord)
_number = itertools.count()


class AuditJournal:
    """What happened in this process and is not kept yet; equal happenings are counted, and there is a most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: OrderedDict[tuple[str, ...], AuditRecord] = OrderedDict()
        self._dropped = 0
        self._signed_in: OrderedDict[tuple[str, str], float] = OrderedDict()

    def note(
        self, event: Event, principal: str, address: str, *, method: str = "", path: str = "", detail: str = ""
    ) -> None:
        """Note something that happened."""
        path = without_secrets(path)[:LONGEST_PATH]
        same = (event, principal, address, method, path, detail)
        with self._lock:
            known = self._pending.get(same)
            if known is not None:
                self._pending[same] = msgspec.structs.replace(known, count=known.count + 1)
            elif len(self._pending) < MOST_PENDING:
                self._pending[same] = AuditRecord(
                    time=_now(),
                    event=event,
                    principal=principal,
                    address=address,
                    method=method,
                    path=path,
                    detail=detail,
                )
            else:
                self._dropped += 1

    def note_sign_in(self, principal: str, address: str, detail: str) -> None:
        """Note that somebody is there, unless they were there a while ago."""
        now, who = time.monotonic(), (principal, address)
        if now - self._signed_in.get(who, -SIGN_IN_SECONDS) < SEEN_SECONDS:
            return
        with self._lock:
            is_new = now - self._signed_in.pop(who, -SIGN_IN_SECONDS) >= SIGN_IN_SECONDS
            self._signed_in[who] = now
            if len(self._signed_in) > MOST_PENDING:
                self._signed_in.popitem(last=False)
        if is_new:
            self.note("signin", principal, address, detail=detail)

    def flush(self, store: Store) -> None:
        """Keep what is pending, in one transaction; when that is not possible, later."""
        with self._lock:
            pending, dropped = self._pending, self._dropped
            self._pending, self._dropped = OrderedDict(), 0
        if dropped:
            LOG.warning("%d further refusals were not kept one by one", dropped)
            detail = "too many to be kept one by one"
            pending[("",)] = AuditRecord(time=_now(), event="refused", detail=detail, count=dropped)
        if not pending:
            return
        try:
            with store.write() as tx:
                for record in pending.values():
                    put_audit(tx, record)
        except RegistryProblem as problem:
            LOG.warning("the audit cannot be kept at present: %s", problem)
            with self._lock:
                self._pending = OrderedDict([*pending.items(), *self._pending.items()][:MOST_PENDING])


def put_audit(tx: Transaction, record: AuditRecord) -> None:
    """Keep a record."""
    moment = datetime.fromisoformat(record.time).timestamp()
    tx.put_record(AUDIT, f"{int(moment * 1000):015d}-{os.getpid()}-{next(_number):09d}", msgspec.json.encode(record))


def audit_change(tx: Transaction, principal: str, detail: str) -> None:
    """Keep that somebody changed keys or grants, together with the change itself."""
    put_audit(tx, AuditRecord(time=_now(), event="changed", principal=principal, detail=detail))


def audit_grants(tx: Transaction, principal: str, removed: Iterable[Grant], added: Iterable[Grant]) -> None:
    """Keep that somebody changed grants."""
    for verb, grants in (("took", removed), ("gave", added)):
        for grant in grants:
            audit_change(tx, principal, f"{verb} {grant.subject} {grant.role} on {grant.prefix}")


def read_audit(
    tx: Transaction,
    *,
    since: datetime | None = None,
    event: str = "",
    principal: str = "",
    address: str = "",
    limit: int = 100,
) -> list[AuditRecord]:
    """The newest records that fit, newest first."""
    if event and event not in EVENTS:
        raise AccessRefused(f"{event[:40]!r} is no event of the audit.", remedy=f"These are: {', '.join(EVENTS)}.")
    found: deque[AuditRecord] = deque(maxlen=min(limit, MOST_SHOWN))
    for _, body in _records(tx, "" if since is None else f"{int(since.timestamp() * 1000):015d}"):
        record = _RECORDS.decode(body)
        if event in ("", record.event) and principal in ("", record.principal) and address in ("", record.address):
            found.append(record)
    return list(reversed(found))


def forget_audit(store: Store, days: int) -> None:
    """Remove the records that are too old, and the oldest of too many; 0 days keep them as long as there is room."""
    with store.read() as tx:
        ids = [record_id for record_id, _ in _records(tx, "")]
    oldest = f"{int((datetime.now(UTC) - timedelta(days=days)).timestamp() * 1000):015d}" if days else ""
    gone = [one for number, one in enumerate(ids) if one < oldest or number < len(ids) - MOST_KEPT]
    if gone:
        with store.write() as tx:
            for record_id in gone:
                tx.delete_record(AUDIT, record_id)


def _records(tx: Transaction, after: str) -> Iterator[tuple[str, bytes]]:
    while page := tx.records(AUDIT, after, _PAGE):
        yield from page
        after = page[-1][0]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
