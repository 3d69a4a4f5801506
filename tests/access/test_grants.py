"""Grants: what they may say, and what a principal may do because of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from postroom.access.grants import (
    Grant,
    GrantTable,
    add_grants,
    disown_group,
    may_manage,
    own_new_group,
    parse_grant,
    parse_grants,
    read_grants,
    remove_grants,
    revision_of,
)
from postroom.catalog.open_store import open_store
from postroom.errors import AccessRefused
from postroom.registry.permissions import Permissions, Prefixes


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("key:fleet-ci", "write", "/messagegroups/Fleet.*"), ("key:fleet-ci", "write", "/messagegroups/fleet.*")),
        (("user:anna", "read", "/messagegroups"), ("user:anna", "read", "/messagegroups/*")),
        (("claim:drivers", "own", "/endpoints/depot/"), ("claim:drivers", "own", "/endpoints/depot")),
        (("anonymous", "read", "/"), ("anonymous", "read", "/")),
        (("authenticated", "write", "/"), ("authenticated", "write", "/")),
        (("key:root", "admin", "/"), ("key:root", "admin", "/")),
    ],
)
def test_a_grant_has_one_spelling(given: tuple[str, str, str], kept: tuple[str, str, str]) -> None:
    found = parse_grant(*given)
    assert (found.subject, found.role, found.prefix) == kept


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("anna", "read", "/"), "no subject"),
        (("key:", "read", "/"), "no subject"),
        (("group:x", "read", "/"), "no subject"),
        (("user:a\nb", "read", "/"), "no subject"),
        (("user:" + "a" * 201, "read", "/"), "no subject"),
        (("user:anna", "Read", "/"), "no role"),
        (("user:anna", "root", "/"), "no role"),
        (("user:anna", "read", "messagegroups"), "no prefix"),
        (("user:anna", "read", "/messagegroups/*/messages"), "no prefix"),
        (("user:anna", "admin", "/messagegroups"), "whole registry"),
        (("anonymous", "admin", "/"), "nobody would be responsible"),
        (("anonymous", "own", "/"), "nobody would be responsible"),
    ],
)
def test_what_means_nothing_is_refused_with_the_reason(given: tuple[str, str, str], reason: str) -> None:
    with pytest.raises(AccessRefused, match=reason):
        parse_grant(*given)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("admin", "no grants"),
        ([["key:a", "read", "/"]], "no grants"),
        ([{"subject": "key:a", "role": "read", "prefix": 1}], "no grants"),
        ([{"subject": "key:a", "role": "read", "path": "/"}], "'path'"),
        ([{"subject": "key:a", "role": "read"}], "no prefix"),
    ],
)
def test_rows_of_a_document_are_checked(rows: object, reason: str) -> None:
    with pytest.raises(AccessRefused, match=reason) as refused:
        parse_grants(rows, "access.yaml")
    assert refused.value.place == "access.yaml"


FLEET = "/messagegroups/fleet"
TABLE = GrantTable(
    [
        Grant("key:ci", "write", FLEET),
        Grant("key:ci", "read", "/schemagroups/*"),
        Grant("claim:drivers", "own", "/messagegroups/rides"),
        Grant("anonymous", "read", "/messagegroups/open"),
        Grant("key:root", "admin", "/"),
    ]
)


@pytest.mark.parametrize(
    ("subjects", "read", "write", "own"),
    [
        (["key:ci"], {FLEET, "/schemagroups/*"}, {FLEET}, set()),
        (["user:anna", "claim:drivers"], {"/messagegroups/rides"}, {"/messagegroups/rides"}, {"/messagegroups/rides"}),
        (["user:anna"], set(), set(), set()),
        (["user:anna", "anonymous"], {"/messagegroups/open"}, set(), set()),
        (["key:CI"], set(), set(), set()),
        (["key:root"], {"/"}, {"/"}, {"/"}),
    ],
)
def test_own_holds_write_and_write_holds_read_and_nothing_is_given_by_default(
    subjects: list[str], read: set[str], write: set[str], own: set[str]
) -> None:
    found = TABLE.permissions("somebody", subjects)
    assert (set(found.read.patterns), set(found.write.patterns), set(found.own.patterns)) == (read, write, own)
    assert found.is_admin == (subjects == ["key:root"])


@pytest.mark.parametrize(
    ("own", "prefix", "may"),
    [
        ("/messagegroups/fleet", "/messagegroups/fleet", True),
        ("/messagegroups/fleet", "/messagegroups/fleet/messages/ride", True),
        ("/messagegroups/fleet", "/messagegroups/fleet/messages/*", True),
        ("/messagegroups/fleet", "/messagegroups/fleet/messages/r*", True),
        ("/messagegroups/fleet", "/messagegroups/fleet2", False),
        ("/messagegroups/fleet", "/messagegroups/fleet*", False),
        ("/messagegroups/fleet", "/messagegroups/*", False),
        ("/messagegroups/fleet", "/", False),
        ("/messagegroups/fleet.*", "/messagegroups/fleet.a", True),
        ("/messagegroups/fleet.*", "/messagegroups/fleet.a*", True),
        ("/messagegroups/fleet.*", "/messagegroups/fleet.*", True),
        ("/messagegroups/fleet.*", "/messagegroups/fleet*", False),
        ("/messagegroups/fleet/messages/ride", "/messagegroups/fleet", False),
        ("/messagegroups/fleet/messages/ride", "/messagegroups/fleet/messages/*", False),
        ("/messagegroups", "/messagegroups/*", True),
        ("/", "/messagegroups/*", True),
    ],
)
def test_owners_manage_grants_within_what_they_own(own: str, prefix: str, may: bool) -> None:
    owner = Permissions(principal="user:anna", own=Prefixes([own]))
    assert may_manage(owner, Grant("user:ben", "write", prefix)) is may
    assert not may_manage(owner, Grant("user:ben", "admin", "/"))
    assert may_manage(Permissions(is_admin=True), Grant("user:ben", "admin", prefix))


def test_grants_are_kept_in_a_store_and_every_change_leaves_a_mark(tmp_path: Path) -> None:
    grants = [Grant("key:ci", "write", FLEET), Grant("anonymous", "read", "/")]
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        marks = []
        with store.write() as tx:
            add_grants(tx, grants)
            marks.append(revision_of(tx))
        with store.write() as tx:
            add_grants(tx, grants[:1])
            marks.append(revision_of(tx))
            assert sorted(read_grants(tx)) == sorted(grants)
        with store.write() as tx:
            assert remove_grants(tx, [grants[0], Grant("key:none", "read", "/")]) == 1
            marks.append(revision_of(tx))
            assert read_grants(tx) == grants[1:]
    assert len(set(marks)) == 3


@pytest.mark.parametrize(
    ("principal", "owned"), [("key:ci", True), ("user:anna", True), ("anonymous", False), ("", False)]
)
def test_whoever_creates_a_group_owns_it(tmp_path: Path, principal: str, owned: bool) -> None:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store, store.write() as tx:
        own_new_group(tx, "/messagegroups/Fleet", principal)
        assert read_grants(tx) == ([Grant(principal, "own", FLEET)] if owned else [])


def test_a_deleted_group_has_no_owners_and_other_grants_stay(tmp_path: Path) -> None:
    others = [
        Grant("key:ci", "own", "/messagegroups/fleet2"),
        Grant("key:ci", "read", FLEET),
        Grant("key:ci", "own", "/messagegroups/fleet*"),
        Grant("key:ci", "read", f"{FLEET}/messages/moved"),
        Grant("key:ci", "own", "/messagegroups/fleet2/messages/moved"),
    ]
    parts = [Grant("key:ci", "own", f"{FLEET}/messages/*"), Grant("key:ci", "own", f"{FLEET}/messages/moved")]
    many = [Grant(f"claim:{number}", "own", FLEET) for number in range(1200)]
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store, store.write() as tx:
        add_grants(tx, [*others, *parts, *many, Grant("key:ci", "own", FLEET), Grant("user:anna", "own", FLEET)])
        disown_group(tx, "/messagegroups/Fleet")
        assert sorted(read_grants(tx)) == sorted(others)
