"""What came with a message is shown once: in a column of its own, or with the rest."""

from __future__ import annotations

from postroom.messages.matching.transport_metadata import TransportReader
from postroom.protocols.kafka import KAFKA


def test_a_time_that_no_column_holds_says_nothing_about_the_next_one() -> None:
    reader = TransportReader(KAFKA, KAFKA, ())
    assert reader.read({"topic": "t", "timestamp": -1}, binary=False) == ("t", None, None, '{"timestamp":-1}')
    assert reader.read({"topic": "t", "timestamp": 7}, binary=False) == ("t", None, 7000, None)
