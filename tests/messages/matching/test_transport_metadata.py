"""What came with a message is shown once: in a column of its own, or with the rest."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.messages.matching.transport_metadata import TransportReader
from postroom.protocols.kafka import KAFKA


def test_a_time_that_no_column_holds_says_nothing_about_the_next_one() -> None:
    reader = TransportReader(KAFKA, KAFKA, ())
    assert reader.read({"topic": "t", "timestamp": -1}, binary=False) == ("t", None, None, '{"timestamp":-1}')
    assert reader.read({"topic": "t", "timestamp": 7}, binary=False) == ("t", None, 7000, None)


@pytest.mark.parametrize(
    "keys", [(0, 5), ({}, {}), ([], []), (False, True), (None, 5), ("", 5), ("k", 5), (5, "k")], ids=repr
)
@pytest.mark.parametrize("member", ["key", "topic"])
def test_a_key_or_topic_that_is_no_string_stops_nothing(member: str, keys: tuple[Any, Any]) -> None:
    learning = TransportReader(KAFKA, KAFKA, ())
    for key in (*keys, *keys):
        fresh = TransportReader(KAFKA, KAFKA, ())
        assert learning.read({member: key}, binary=False) == fresh.read({member: key}, binary=False)
