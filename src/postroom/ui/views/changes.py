"""The log: who changed what and when, with old and new values, the newest first and live; and who is told of it."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import msgspec

from postroom.http.access.administration import (
    answer_audit,
    answer_grants,
    answer_keys,
    answer_session,
    answer_sessions,
)
from postroom.http.server.response import Response
from postroom.http.services.mounts import Mount
from postroom.http.services.replication import answer_replication
from postroom.http.services.subscriptions import answer_subscriptions
from postroom.registry.entities import Change
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.replication.changes.audit import AuditEntry, entry_of
from postroom.ui.page import PageRequest

PAGE_SIZE = 50
WINDOW = 500
FURTHEST = 2**53
MOST_ATTRIBUTES = 40
UNTOLD = frozenset({"epoch", "modifiedat", "createdat", "ancestorid", "formatvalidated"})
"""Attributes that change with everything and say nothing by themselves."""


TELLING_META = frozenset({"meta.deprecated", "meta.defaultversionid", "meta.compatibility", "meta.xref"})


def answer_changes_page(page: PageRequest) -> Response:
    """A page of the log."""
    xid = page.query.get("xid", "/")
    before = page.number("before", 0, FURTHEST)
    with page.reading():
        last = page.tx.last_change()
        newest = last.sequence if last is not None else 0
        rows, is_last = _rows(page.tx, xid, min(before - 1, newest) if before else newest)
        requests = _requests([entry_of(page.tx, row) for row in rows])
    cursor = last.mark if last is not None else ""
    return page.render(
        "changes.html",
        here="/-/changes",
        xid=xid,
        requests=requests,
        older="" if is_last else page.links.page("/-/changes", xid=xid if xid != "/" else "", before=rows[-1].sequence),
        newest=page.links.page("/-/changes", xid=xid if xid != "/" else "") if before else "",
        stream="" if before else page.links.api("/-/changes", after=cursor, xid=xid if xid != "/" else ""),
        json_url=page.links.api("/-/changes", xid=xid if xid != "/" else "") + ("?" if xid == "/" else "&") + "values",
    )


def _rows(tx: Transaction, xid: str, until: int) -> tuple[list[Change], bool]:
    """The newest rows up to a sequence, newest first, and whether there are none before them."""
    window, found = WINDOW, list[Change]()
    end = until
    while end > 0 and len(found) <= PAGE_SIZE:
        start = max(0, end - window)
        rows = [row for row in tx.changes(start, end - start, xid) if row.sequence <= end]
        found = rows + found
        end, window = start, window * 4
    telling = [row for row in found if not _only_counts(row)]
    return telling[-PAGE_SIZE:][::-1], len(telling) <= PAGE_SIZE and end == 0


def _only_counts(row: Change) -> bool:
    return row.action == "updated" and row.xid.count("/") < 3 and any(name.endswith("count") for name in row.changed)


def _requests(entries: list[AuditEntry]) -> list[dict[str, Any]]:
    """Entries by the request that they are of; a Resource and its Version are one change."""
    found = []
    for _, group in groupby(entries, key=lambda one: one.xregcorrelationid):
        rows = list(group)
        changes: dict[str, list[AuditEntry]] = {}
        for row in rows:
            changes.setdefault("/".join(row.xid.split("/")[:5]), []).append(row)
        shown = [_change(xid, members) for xid, members in changes.items()]
        found.append({"id": rows[0].id, "time": rows[0].time, "actor": rows[0].actor, "changes": shown})
    return found


def _change(xid: str, rows: list[AuditEntry]) -> dict[str, Any]:
    own = next((one for one in rows if one.xid == xid), rows[0])
    values = [
        (name, sides)
        for row in rows
        for name, sides in row.values.items()
        if name not in UNTOLD and (not name.startswith("meta.") or name in TELLING_META)
    ]
    return {
        "xid": xid,
        "action": own.action,
        "values": values[:MOST_ATTRIBUTES],
        "more": max(0, len(values) - MOST_ATTRIBUTES),
        "is_linked": own.action != "deleted" and xid.count("/") != 1,
    }


def answer_subscriptions_page(page: PageRequest) -> Response:
    """Subscriptions with their deliveries, and links with other catalogs."""
    subscriptions, refused = _asked(page, answer_subscriptions, "subscriptions")
    deliveries = {
        one["id"]: _asked(page, answer_subscriptions, "subscriptions", f"/{one['id']}/delivery")[0] or {}
        for one in (subscriptions or [])[:PAGE_SIZE]
    }
    links, links_refused = _asked(page, answer_replication, "replication", "/links")
    return page.render(
        "subscriptions.html",
        here="/-/subscriptions",
        subscriptions=(subscriptions or [])[:PAGE_SIZE],
        deliveries=deliveries,
        refused=refused,
        replicas=links or {},
        replicas_refused=links_refused,
        json_url=page.links.api("/-/subscriptions"),
        kept=False,
    )


def answer_account(page: PageRequest) -> Response:
    """Who asks and what they may do; for administrators also keys, grants and what happened at the doors."""
    session, _ = _asked(page, answer_session, "session")
    grants, _ = _asked(page, answer_grants, "grants")
    keys, _ = _asked(page, answer_keys, "keys")
    sessions, _ = _asked(page, answer_sessions, "sessions")
    audit, _ = _asked(page, answer_audit, "audit")
    base = page.request.base.removesuffix("/ui").removesuffix("/-")
    return page.render(
        "account.html",
        here="/-/account",
        session=session or {},
        grants=(grants or {}).get("grants", []),
        keys=(keys or {}).get("keys"),
        sessions=(sessions or {}).get("sessions", []),
        audit=(audit or {}).get("records", (audit or {}).get("audit")),
        signs_in=bool(page.settings.oidc_client_id),
        base=base,
        json_url=page.links.api("/-/session"),
        kept=False,
    )


def _asked(page: PageRequest, mount: Mount, name: str, path: str = "/") -> tuple[Any, str]:
    """What a service of the API answers to the same person, and why it does not."""
    base = page.request.base.removesuffix("/ui").removesuffix("/-")
    cookie = tuple(one for one in page.request.headers if one[0] == "cookie")
    request = msgspec.structs.replace(
        page.request, method="GET", path=path, base=f"{base}/-/{name}", query=(), headers=cookie
    )
    try:
        made = mount(request, page.store, page.settings)
    except RegistryProblem as problem:
        return None, problem.sentence
    return msgspec.to_builtins(made.json, enc_hook=str), ""
