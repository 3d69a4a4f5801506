"""Events as records of a protocol: what is sent, apart from where it goes."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.protocols.cloudevents import wrap
from postroom.protocols.records import Record
from postroom.replication.subscriptions.sinks.sink import Event


def record_of(event: Event, protocol: str, metadata: dict[str, Any], mode: str) -> Record:
    """The record that carries an event.

    One without data goes out in structured mode in any case: a web hook needs a body (WH 2.1), and Kafka takes an
    empty one for a deletion.
    """
    attributes = {name: value for name, value in event.items() if name != "data"}
    if "data" not in event:
        return wrap(protocol, metadata, attributes, b"", "structured")
    return wrap(protocol, metadata, attributes, msgspec.json.encode(event["data"]), mode)
