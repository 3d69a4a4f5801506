"""API keys: shown once, kept as a hash, and good until they expire, are rotated or revoked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from postroom.access.grants import Grant, read_grants
from postroom.access.keys import (
    KEY,
    create_key,
    described,
    find_key,
    note_uses,
    parse_span,
    revoke_key,
    rotate_key,
    split_key,
)
from postroom.catalog.open_store import open_store
from postroom.errors import AccessRefused
from postroom.registry.transaction_interface import Transaction

GRANT = Grant("key:fleet-ci", "write", "/messagegroups/fleet")
NOW = datetime(2026, 11, 18, 6, tzinfo=UTC)


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[Transaction]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store, store.write() as transaction:
        yield transaction


def test_a_key_says_its_id_and_only_a_hash_of_its_secret_is_kept(tx: Transaction) -> None:
    key, text = create_key(tx, "fleet-ci", [GRANT])
    key_id, secret = split_key(text) or ("", "")
    assert key_id == "fleet-ci"
    assert len(bytes.fromhex(secret)) == 32
    assert key.fits(secret)
    assert not key.fits(secret[::-1])
    kept = b"".join(body for _, body in tx.records(KEY))
    assert secret.encode() not in kept
    assert read_grants(tx) == [GRANT]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "postroom",
        "postroom_ci",
        "postroom_ci_",
        f"postroom__{'a' * 64}",
        f"postroom_ci_{'a' * 63}",
        f"postroom_ci_{'a' * 65}",
        f"postroom_ci_{'A' * 64}",
        f"postroom_ci_{'a' * 64}\n",
        f"postroom_CI_{'a' * 64}",
        f"other_ci_{'a' * 64}",
        f"postroom_../x_{'a' * 64}",
    ],
)
def test_what_is_no_key_is_not_taken_for_one(text: str) -> None:
    assert split_key(text) is None


@pytest.mark.parametrize("name", ["", "CI", "a_b", "-ci", ".ci", "a/b", "a b", "a" * 64, "ä"])
def test_names_of_keys_are_plain(tx: Transaction, name: str) -> None:
    with pytest.raises(AccessRefused, match="no name of a key"):
        create_key(tx, name, [])


def test_the_name_of_a_key_is_used_once_for_ever(tx: Transaction) -> None:
    create_key(tx, "fleet-ci", [])
    with pytest.raises(AccessRefused, match=r"already \(active\).*rotate"):
        create_key(tx, "fleet-ci", [])
    revoke_key(tx, "fleet-ci")
    with pytest.raises(AccessRefused, match=r"already \(revoked\)"):
        create_key(tx, "fleet-ci", [])


def test_rotating_keeps_the_grants_and_ends_the_old_secret(tx: Transaction) -> None:
    _, old = create_key(tx, "fleet-ci", [GRANT])
    key, new = rotate_key(tx, "fleet-ci")
    assert key.fits((split_key(new) or ("", ""))[1])
    assert not key.fits((split_key(old) or ("", ""))[1])
    assert read_grants(tx) == [GRANT]


def test_revoking_takes_the_grants_and_a_revoked_key_is_not_rotated(tx: Transaction) -> None:
    create_key(tx, "fleet-ci", [GRANT])
    first = revoke_key(tx, "fleet-ci")
    assert revoke_key(tx, "fleet-ci").revoked == first.revoked
    assert read_grants(tx) == []
    with pytest.raises(AccessRefused, match="revoked"):
        rotate_key(tx, "fleet-ci")


@pytest.mark.parametrize("work", [rotate_key, revoke_key])
def test_a_key_that_is_not_there_cannot_be_changed(tx: Transaction, work: object) -> None:
    with pytest.raises(AccessRefused, match="no key nobody"):
        work(tx, "nobody")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("expires", "revoked", "status"),
    [
        (None, None, "active"),
        (NOW + timedelta(seconds=1), None, "active"),
        (NOW, None, "expired"),
        (NOW - timedelta(days=1), None, "expired"),
        (None, NOW, "revoked"),
        (NOW - timedelta(days=1), NOW, "revoked"),
    ],
)
def test_the_status_of_a_key(tx: Transaction, expires: datetime | None, revoked: datetime | None, status: str) -> None:
    import msgspec

    key, _ = create_key(tx, "fleet-ci", [], expires=expires)
    assert msgspec.structs.replace(key, revoked=revoked).status(NOW) == status


def test_an_expired_key_is_rotated_only_with_another_end(tx: Transaction) -> None:
    create_key(tx, "fleet-ci", [], expires=NOW - timedelta(days=400))
    with pytest.raises(AccessRefused, match="expired"):
        rotate_key(tx, "fleet-ci")
    later = datetime.now(UTC) + timedelta(days=1)
    assert rotate_key(tx, "fleet-ci", expires=later)[0].expires == later


@pytest.mark.parametrize(
    ("span", "end"),
    [
        ("90d", NOW + timedelta(days=90)),
        ("12h", NOW + timedelta(hours=12)),
        ("30m", NOW + timedelta(minutes=30)),
        ("0d", None),
        ("90", None),
        ("-1d", None),
        ("1y", None),
        ("999999d", None),
        ("", None),
    ],
)
def test_spans_of_time(span: str, end: datetime | None) -> None:
    if end is None:
        with pytest.raises(AccessRefused, match="no span of time"):
            parse_span(span, NOW)
    else:
        assert parse_span(span, NOW) == end


def test_what_is_shown_of_a_key_tells_its_holder_which_it_is_and_nobody_else_anything(tx: Transaction) -> None:
    _, text = create_key(tx, "fleet-ci", [GRANT], creator="key:root")
    note_uses(tx, {"fleet-ci": NOW})
    (shown,) = described(tx)
    assert shown["id"] == "fleet-ci"
    assert shown["hint"] == text.rpartition("_")[2][:6]
    assert shown["grants"] == ["write:/messagegroups/fleet"]
    assert shown["lastuse"] == "2026-11-18T06:00:00+00:00"
    assert text.rpartition("_")[2] not in str(shown)
    assert str(getattr(find_key(tx, "fleet-ci"), "digest", "?")) not in str(shown)
