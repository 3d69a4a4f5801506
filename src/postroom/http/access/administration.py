"""`/-/grants`, `/-/keys`, `/-/sessions`, `/-/audit`: who may do what, who is there, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from postroom.access.access_file import AccessFile
from postroom.access.audit import audit_change, audit_grants, read_audit
from postroom.access.grants import (
    Grant,
    GrantTable,
    add_grants,
    may_manage,
    parse_grant,
    parse_grants,
    read_grants,
    remove_grants,
)
from postroom.access.keys import create_key, described, parse_span, revoke_key, rotate_key
from postroom.access.sessions import described_sessions, end_sessions, find_session
from postroom.errors import AccessRefused
from postroom.http.access.browser import session_secret
from postroom.http.server.request import Request
from postroom.http.server.request_body import parse_json
from postroom.http.server.response import Response
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings
from postroom.store.interface import Store

UNSHARED = {"Cache-Control": "no-store"}
Handler = Callable[[], Response]


class KeyOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A key that somebody wants."""

    id: str = ""
    grants: list[dict[str, str]] = []
    expires: str = ""


# msgspec describes a type when it is first used, and two threads that make it do so at once crash the process.
msgspec.json.Decoder(KeyOrder)


def answer_grants(request: Request, store: Store, settings: Settings) -> Response:
    """List, add, remove or replace grants."""
    service = _Administration(request, store, settings)
    if request.path.strip("/"):
        raise RegistryProblem("api_not_found", f"/-/grants{request.path}")
    return service.answer(
        "/-/grants",
        {"GET": service.grants, "PUT": service.replace_grants, "POST": service.add, "DELETE": service.remove},
    )


def answer_keys(request: Request, store: Store, settings: Settings) -> Response:
    """List, make, rotate or revoke keys."""
    service = _Administration(request, store, settings)
    key_id, _, action = request.path.strip("/").partition("/")
    handlers: dict[tuple[bool, str], dict[str, Handler]] = {
        (False, ""): {"GET": service.keys, "POST": service.create},
        (True, ""): {"DELETE": lambda: service.revoke(key_id)},
        (True, "rotate"): {"POST": lambda: service.rotate(key_id)},
    }
    found = handlers.get((bool(key_id), action))
    if found is None:
        raise RegistryProblem("api_not_found", f"/-/keys{request.path}")
    return service.answer("/-/keys" + request.path.rstrip("/"), found)


def answer_session(request: Request, store: Store, settings: Settings) -> Response:
    """Who asks, and what they may do."""
    if request.path.strip("/"):
        raise RegistryProblem("api_not_found", f"/-/session{request.path}")
    if request.method != "GET":
        headers = {"allow": "GET"}
        raise RegistryProblem("action_not_supported", "/-/session", action=request.method, headers=headers)
    by = request.permissions
    shown = {"access": settings.access, "principal": by.principal, "admin": by.is_admin}
    if secret := session_secret(request.header("cookie") or "", request.base.removesuffix("/-/session")):
        with store.read() as tx:
            session = find_session(tx, secret)
        shown |= {"csrf": session.csrf} if session is not None else {}
    prefixes = {"read": by.read.patterns, "write": by.write.patterns, "own": by.own.patterns}
    return Response(json={**shown, **prefixes}, cacheable=False, headers=UNSHARED)


def answer_sessions(request: Request, store: Store, settings: Settings) -> Response:
    """List or end the sessions of people who signed in with a browser."""
    if request.path.strip("/"):
        raise RegistryProblem("api_not_found", f"/-/sessions{request.path}")
    service = _Administration(request, store, settings)
    return service.answer("/-/sessions", {"GET": service.sessions, "DELETE": service.end_sessions})


def answer_audit(request: Request, store: Store, settings: Settings) -> Response:
    """What happened at the doors of the service."""
    if request.path.strip("/"):
        raise RegistryProblem("api_not_found", f"/-/audit{request.path}")
    service = _Administration(request, store, settings)
    return service.answer("/-/audit", {"GET": service.audit})


class _Administration:
    """One request."""

    def __init__(self, request: Request, store: Store, settings: Settings) -> None:
        self._request = request
        self._store = store
        self._settings = settings
        self._by = request.permissions

    def answer(self, subject: str, handlers: dict[str, Handler]) -> Response:
        """Answer by the method."""
        if self._settings.access == "off":
            detail = "Access is off: `postroom keys` and `postroom grants` change the store itself."
            raise RegistryProblem("not_available", subject, detail=detail)
        handler = handlers.get(self._request.method)
        methods = ", ".join(sorted((*handlers, "OPTIONS")))
        if self._request.method == "OPTIONS":
            return Response(headers={"Allow": methods, "Access-Control-Allow-Methods": methods})
        if handler is None:
            action = self._request.method
            raise RegistryProblem("action_not_supported", subject, action=action, headers={"allow": methods})
        try:
            made = handler()
        except AccessRefused as refused:
            sentence = str(refused).rstrip(".")
            raise RegistryProblem("bad_request", subject, error_detail=sentence) from None
        return msgspec.structs.replace(made, cacheable=False, headers={**made.headers, **UNSHARED})

    def grants(self) -> Response:
        """The grants that somebody may manage, and those that they have."""
        with self._store.read() as tx:
            found = self._present(tx)
        shown = [one for one in found if may_manage(self._by, one) or one.subject == self._by.principal]
        return Response(json={"grants": shown})

    def replace_grants(self) -> Response:
        """Replace all grants that somebody may manage by others."""
        wanted = self._given_grants()
        self._check(wanted)
        with self._store.write() as tx:
            present = {one for one in self._kept(tx) if may_manage(self._by, one)}
            self._keep_an_admin(tx, removed=present - set(wanted), added=wanted)
            remove_grants(tx, present - set(wanted))
            add_grants(tx, wanted)
            self._audit_grants(tx, sorted(present - set(wanted)), sorted(set(wanted) - present))
        return self.grants()

    def add(self) -> Response:
        """Add grants to those that are there."""
        wanted = self._given_grants()
        self._check(wanted)
        with self._store.write() as tx:
            known = set(self._kept(tx))
            add_grants(tx, wanted)
            self._audit_grants(tx, [], [one for one in wanted if one not in known])
        return Response(json={"grants": wanted})

    def remove(self) -> Response:
        """Remove the grant that the query names."""
        query = dict(self._request.query)
        grant = parse_grant(query.get("subject", ""), query.get("role", ""), query.get("prefix", ""))
        self._check([grant])
        with self._store.write() as tx:
            self._kept(tx)
            self._keep_an_admin(tx, removed={grant}, added=[])
            count = remove_grants(tx, [grant])
            self._audit_grants(tx, [grant] if count else [], [])
        return Response(json={"removed": count})

    def keys(self) -> Response:
        """All keys, without their secrets."""
        self._require_admin()
        with self._store.read() as tx:
            return Response(json={"keys": described(tx)})

    def create(self) -> Response:
        """Make a key; its secret is in this answer and nowhere else."""
        self._require_admin()
        order = self._order()
        grants = parse_grants([{**row, "subject": f"key:{order.id}"} for row in order.grants])
        with self._store.write() as tx:
            if grants:
                self._kept(tx)
            key, text = create_key(tx, order.id, grants, expires=self._end(order), creator=self._by.principal)
            audit_change(tx, self._by.principal, f"made the key {key.id}")
            self._audit_grants(tx, [], grants)
        return Response(status=201, json={"id": key.id, "key": text, "expires": key.expires})

    def rotate(self, key_id: str) -> Response:
        """Give a key another secret."""
        self._require_admin()
        order = self._order()
        with self._store.write() as tx:
            key, text = rotate_key(tx, key_id, expires=self._end(order))
            audit_change(tx, self._by.principal, f"rotated the key {key.id}")
        return Response(json={"id": key.id, "key": text, "expires": key.expires})

    def revoke(self, key_id: str) -> Response:
        """End a key."""
        self._require_admin()
        with self._store.write() as tx:
            held = {one for one in read_grants(tx) if one.subject == f"key:{key_id}"}
            self._keep_an_admin(tx, removed=held, added=[])
            revoked = revoke_key(tx, key_id)
            audit_change(tx, self._by.principal, f"revoked the key {revoked.id}")
        return Response(json={"id": revoked.id, "revoked": revoked.revoked})

    def sessions(self) -> Response:
        """One's own sessions, or those of everybody for administrators."""
        with self._store.read() as tx:
            return Response(json={"sessions": described_sessions(tx, "" if self._by.is_admin else self._by.principal)})

    def end_sessions(self) -> Response:
        """End all sessions of a principal: one's own, or those of anybody for administrators."""
        principal = dict(self._request.query).get("principal", "")
        if not principal:
            raise AccessRefused("whose sessions?", remedy="Say principal=user:NAME in the query.")
        if principal != self._by.principal:
            self._by.require_admin("/-/sessions")
        with self._store.write() as tx:
            count = end_sessions(tx, principal)
            if count:
                audit_change(tx, self._by.principal, f"ended the sessions of {principal}")
        return Response(json={"ended": count})

    def audit(self) -> Response:
        """The newest records that fit the query, newest first."""
        self._by.require_admin("/-/audit")
        query = dict(self._request.query)
        unknown = query.keys() - {"since", "event", "principal", "address", "limit"}
        if unknown:
            raise RegistryProblem("bad_flag", "/-/audit", flag=min(unknown))
        limit = query.get("limit", "100")
        if not limit.isascii() or not limit.isdigit() or len(limit) > 9 or not int(limit):
            raise AccessRefused("limit is a number above 0.")
        chosen = {name: query[name] for name in ("event", "principal", "address") if name in query}
        with self._store.read() as tx:
            found = read_audit(tx, since=_moment(query.get("since", "")), limit=int(limit), **chosen)
        return Response(json={"records": found})

    def _audit_grants(self, tx: Transaction, removed: Iterable[Grant], added: Iterable[Grant]) -> None:
        audit_grants(tx, self._by.principal, removed, added)

    def _present(self, tx: Transaction) -> list[Grant]:
        file = self._settings.access_file
        return AccessFile(file).grants if file else read_grants(tx)

    def _kept(self, tx: Transaction) -> list[Grant]:
        """The grants of the store, where they are what counts."""
        if self._settings.access_file:
            raise AccessRefused("the grants are in a file (access_file).", remedy="Change them there.")
        return read_grants(tx)

    def _keep_an_admin(self, tx: Transaction, *, removed: set[Grant], added: Iterable[Grant]) -> None:
        """Refuse what would leave nobody to administer the registry; whoever has the store itself may do that."""
        if self._settings.access_file:
            return
        before = read_grants(tx)
        if GrantTable(before).has_admin and not GrantTable({*before, *added} - removed).has_admin:
            raise AccessRefused("nobody would administer the registry any more.", remedy="Make another admin first.")

    def _check(self, grants: Iterable[Grant]) -> None:
        for grant in grants:
            if not may_manage(self._by, grant):
                missing = "admin on /" if grant.role == "admin" else f"own on {grant.prefix}"
                raise RegistryProblem("forbidden", "/-/grants", grant=missing)

    def _require_admin(self) -> None:
        self._by.require_admin("/-/keys")

    def _body(self) -> Any:
        return parse_json(self._request.body, self._settings.max_depth, "/") if self._request.body.strip() else {}

    def _given_grants(self) -> list[Grant]:
        body = self._body()
        if not isinstance(body, dict) or body.keys() != {"grants"}:
            raise AccessRefused('the body is {"grants": [{"subject": …, "role": …, "prefix": …}]}.')
        return parse_grants(body["grants"])

    def _order(self) -> KeyOrder:
        try:
            return msgspec.convert(self._body(), KeyOrder)
        except msgspec.ValidationError as error:
            raise AccessRefused(f"this is no order for a key: {error}.") from None

    def _end(self, order: KeyOrder) -> datetime | None:
        return parse_span(order.expires, datetime.now(UTC)) if order.expires else None


def _moment(text: str) -> datetime | None:
    """A point in time, RFC 3339."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise AccessRefused(f"{text[:40]!r} is no point in time, such as 2026-11-18T06:00:00Z.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
