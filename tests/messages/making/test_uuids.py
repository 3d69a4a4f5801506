"""Ids are random UUIDs, whether they are made one by one or many at a time."""

from __future__ import annotations

import random
import threading
import uuid

from postroom.messages.making.uuids import UnseededRandom, random_uuid, random_uuids


def assert_random(ids: list[str]) -> None:
    assert len(set(ids)) == len(ids)
    found = [uuid.UUID(text) for text in ids]
    assert [str(one) for one in found] == ids
    assert {(one.version, one.variant) for one in found} == {(4, uuid.RFC_4122)}
    # All bits but those six that say so are left to unseeded.
    ones, zeros = 0, 0
    for one in found:
        ones, zeros = ones | one.int, zeros | ~one.int
    assert (ones & zeros & (2**128 - 1)).bit_count() == 122


def test_ids_are_random_uuids() -> None:
    assert_random(random_uuids(1_000))
    unseeded, seeded = UnseededRandom(), random.Random(7)
    assert_random([random_uuid(unseeded) for _ in range(1_000)])
    assert_random([random_uuid(seeded) for _ in range(1_000)])


def test_a_seed_gives_the_same_ids() -> None:
    assert random_uuid(random.Random(7)) == random_uuid(random.Random(7))


def test_after_a_fork_nothing_is_left_in_store() -> None:
    unseeded = UnseededRandom()
    random_uuid(unseeded)
    assert unseeded.store
    unseeded.seed()
    assert not unseeded.store


def test_threads_never_get_the_same_id() -> None:
    rng, found = UnseededRandom(), list[str]()
    threads = [threading.Thread(target=lambda: found.extend(random_uuid(rng) for _ in range(2_000))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == len(found) == 8_000
