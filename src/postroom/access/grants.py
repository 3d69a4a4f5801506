"""Grants: which subject has which role on which part of a registry, and what a principal may do because of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args

import msgspec

from postroom.errors import AccessRefused
from postroom.registry.permissions import EVERYWHERE, NOWHERE, ROOT, Permissions, Prefixes, PrefixRefused, normal_prefix
from postroom.registry.transaction_interface import Transaction

GRANT = "grant"
REVISION = "accessrevision"
"""Kinds of records in a store: the grants, and a mark that changes with every grant, key and session."""
ANONYMOUS = "anonymous"
AUTHENTICATED = "authenticated"
NAMED = ("key", "user", "claim")
LONGEST_NAME = 200
PAGE = 500

Role = Literal["read", "write", "own", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)


class Grant(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """One row: a subject (`key:ID`, `user:NAME`, `claim:VALUE`, `anonymous`, `authenticated`), a role and a prefix."""

    subject: str
    role: Role
    prefix: str


class GrantTable:
    """Grants by subject."""

    def __init__(self, grants: Iterable[Grant] = ()) -> None:
        self.grants = tuple(sorted(grants))
        self._by_subject: dict[str, list[Grant]] = {}
        for grant in self.grants:
            self._by_subject.setdefault(grant.subject, []).append(grant)

    @property
    def has_admin(self) -> bool:
        """Whether anybody administers the registry."""
        return any(grant.role == "admin" for grant in self.grants)

    def permissions(self, principal: str, subjects: Iterable[str]) -> Permissions:
        """What a principal may do, who counts as all of these subjects. Roles hold the lesser ones."""
        found = [grant for subject in subjects for grant in self._by_subject.get(subject, ())]
        if any(grant.role == "admin" for grant in found):
            return Permissions(principal=principal, read=EVERYWHERE, write=EVERYWHERE, own=EVERYWHERE, is_admin=True)
        own, write, read = (_prefixes(found, ROLES[least:]) for least in (2, 1, 0))
        return Permissions(principal=principal, read=read, write=write, own=own)


def _prefixes(grants: Iterable[Grant], roles: Iterable[str]) -> Prefixes:
    patterns = [grant.prefix for grant in grants if grant.role in roles]
    return Prefixes(patterns) if patterns else NOWHERE


def parse_grant(subject: str, role: str, prefix: str) -> Grant:
    """A grant in its one spelling; AccessRefused for what means nothing."""
    kind, colon, name = subject.partition(":")
    is_named = bool(colon) and kind in NAMED and 0 < len(name) <= LONGEST_NAME and name.isprintable()
    if not is_named and subject not in (ANONYMOUS, AUTHENTICATED):
        raise AccessRefused(
            f"{subject[:80]!r} is no subject of a grant.",
            remedy="Write key:ID, user:NAME, claim:VALUE, anonymous or authenticated.",
        )
    if role not in ROLES:
        raise AccessRefused(f"{role[:80]!r} is no role.", remedy=f"These are: {', '.join(ROLES)}.")
    if subject == ANONYMOUS and role in ("own", "admin"):
        raise AccessRefused(f"{ANONYMOUS} cannot have the role {role}: nobody would be responsible.")
    try:
        normal = normal_prefix(prefix)
    except PrefixRefused as refused:
        raise AccessRefused(f"{refused}.") from None
    if role == "admin" and normal != ROOT:
        raise AccessRefused(
            "admin is a role on the whole registry.", remedy=f"Write admin on {ROOT}, or own on a part."
        )
    return Grant(subject, role, normal)


def parse_grants(rows: Any, place: str = "") -> list[Grant]:
    """Grants from a document: a list of objects with `subject`, `role` and `prefix`."""
    try:
        given = msgspec.convert(rows, list[dict[str, str]])
        return sorted({parse_grant(**{name: row.get(name, "") for name in _members(row)}) for row in given})
    except msgspec.ValidationError as error:
        raise AccessRefused(f"these are no grants: {error}.", place=place) from None
    except AccessRefused as refused:
        raise AccessRefused(refused.sentence, place=place or refused.place, remedy=refused.remedy) from None


def _members(row: dict[str, str]) -> tuple[str, ...]:
    unknown = row.keys() - {"subject", "role", "prefix"}
    if unknown:
        raise AccessRefused(f"a grant has no {min(unknown)[:80]!r}.", remedy="It has subject, role and prefix.")
    return ("subject", "role", "prefix")


def read_grants(tx: Transaction) -> list[Grant]:
    """The grants that a store keeps."""
    return [msgspec.json.decode(body, type=Grant) for _, body in tx.records(GRANT)]


def add_grants(tx: Transaction, grants: Iterable[Grant]) -> None:
    """Keep grants in a store; one that is there stays."""
    for grant in grants:
        tx.put_record(GRANT, _record_id(grant), msgspec.json.encode(grant))
    mark_changed(tx)


def remove_grants(tx: Transaction, grants: Iterable[Grant]) -> int:
    """Remove grants from a store; how many of them were there."""
    known = set(read_grants(tx))
    found = [grant for grant in set(grants) if grant in known]
    for grant in found:
        tx.delete_record(GRANT, _record_id(grant))
    mark_changed(tx)
    return len(found)


def own_new_group(tx: Transaction, xid: str, principal: str) -> None:
    """Let whoever created a Group own it; the transaction is the one that creates it."""
    if principal.partition(":")[0] in NAMED:
        add_grants(tx, [parse_grant(principal, "own", xid)])


def disown_group(tx: Transaction, xid: str) -> None:
    """Let nobody own a Group that is deleted, nor a part of it: whoever creates it anew is somebody else, perhaps."""
    owned = [name for name in _names_within(tx, normal_prefix(xid)) if name.split("\n")[1] == "own"]
    for name in owned:
        tx.delete_record(GRANT, name)
    if owned:
        mark_changed(tx)


def _names_within(tx: Transaction, prefix: str) -> Iterator[str]:
    """The ids of the records of grants on an entity and on what is in it."""
    for start in (f"{prefix}\n", f"{prefix}/"):
        after = start
        while page := [name for name, _ in tx.records(GRANT, after, PAGE) if name.startswith(start)]:
            yield from page
            after = page[-1]


def mark_changed(tx: Transaction) -> None:
    """Tell all processes to read grants, keys and sessions anew."""
    tx.put_record(REVISION, "", secrets.token_bytes(8))


def revision_of(tx: Transaction) -> bytes:
    """What differs after every change of grants, keys and sessions."""
    return tx.record(REVISION, "") or b""


def may_manage(permissions: Permissions, grant: Grant) -> bool:
    """Whether somebody may add or remove a grant: an administrator all, an owner those within what they own."""
    if permissions.is_admin:
        return True
    return grant.role != "admin" and _holds(permissions.own, grant.prefix)


def _holds(prefixes: Prefixes, pattern: str) -> bool:
    """Whether all that a prefix covers is covered by others."""
    if not pattern.endswith("*"):
        return prefixes.covers(pattern) if pattern != ROOT else prefixes.is_everything
    collection, _, last = pattern.rpartition("/")
    ranges = prefixes.ids(collection)
    if ranges is None:
        return True
    start = last.removesuffix("*")
    return bool(start) and any(low <= start and _after(start) <= high for low, high in ranges)


def _after(start: str) -> str:
    """The first text behind all that begin like this."""
    return start[:-1] + chr(ord(start[-1]) + 1)


def _record_id(grant: Grant) -> str:
    return f"{grant.prefix}\n{grant.role}\n{grant.subject}"
