"""What every sink offers, how it reports that an event did not arrive, and the record that carries an event."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from postroom.protocols.cloudevents import wrap
from postroom.protocols.records import Record

Event = dict[str, Any]
Verdict = Literal["retry", "refused", "gone"]


class DeliveryFailed(Exception):
    """An event that did not arrive.

    `retry` means that a later attempt may do, not before `after` seconds where the sink says so; `refused` that trying
    again would change nothing; `gone` that the sink wants no events any more.
    """

    def __init__(self, sentence: str, verdict: Verdict = "retry", after: float = 0.0) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.verdict = verdict
        self.after = after


class Permission(msgspec.Struct, frozen=True):
    """A sink's consent; `rate` is how many requests a minute it takes, 0 for any number."""

    rate: int = 0


class Sink(Protocol):
    """A connection to a subscriber. One thread at a time uses it."""

    def confirm(self, callback: str) -> Permission:
        """Ask whether events are welcome; a refusal is DeliveryFailed. `callback` is where the answer may be given."""

    def send(self, event: Event) -> None:
        """Deliver one event and wait until it has arrived, or raise DeliveryFailed."""

    def rest(self) -> None:
        """There is nothing more to send for now: give back what cannot stay open unattended."""

    def close(self) -> None:
        """Give back everything."""


def record_of(event: Event, protocol: str, metadata: dict[str, Any], mode: str) -> Record:
    """The record that carries an event.

    One without data goes out in structured mode in any case: a web hook needs a body (WH 2.1), and Kafka takes an
    empty one for a deletion.
    """
    attributes = {name: value for name, value in event.items() if name != "data"}
    if "data" not in event:
        return wrap(protocol, metadata, attributes, b"", "structured")
    return wrap(protocol, metadata, attributes, msgspec.json.encode(event["data"]), mode)
