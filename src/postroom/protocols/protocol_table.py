"""The protocols we know. A new one is one new module and one line here."""

from __future__ import annotations

import functools

from postroom.protocols.amqp import AMQP
from postroom.protocols.http import HTTP
from postroom.protocols.kafka import KAFKA
from postroom.protocols.mqtt import MQTT_3_1_1, MQTT_5_0
from postroom.protocols.nats import NATS
from postroom.protocols.protocol import Wire

PROTOCOLS = (HTTP, AMQP, MQTT_3_1_1, MQTT_5_0, KAFKA, NATS)

_BY_SPELLING = {spelling.upper(): wire for wire in PROTOCOLS for spelling in wire.spellings}


@functools.lru_cache(maxsize=256)
def wire_named(name: str) -> Wire:
    """The protocol of that name, case ignored. An unknown one has no options: it is compared literally."""
    known = _BY_SPELLING.get(name.upper())
    return known or Wire(name=name, spellings=(name,), options=())


@functools.lru_cache(maxsize=256)
def canonical_protocol(name: str) -> str:
    """The one spelling we compare; empty where a definition names none (some authors write "None")."""
    return "" if name.lower() in ("", "none") else wire_named(name).name.upper()
