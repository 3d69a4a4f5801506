"""Traffic of Harbour Mobility: mixed messages, most of them right, some wrong in known ways."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from postroom.catalog.catalog import Catalog
from postroom.messages.making.make import AUTO, Maker
from postroom.messages.making.make_invalid import make_invalid
from postroom.protocols.records import render_record

# How often each message is seen, and on which protocols ("" is a structured event on its own).
MIX: dict[str, tuple[int, tuple[str, ...]]] = {
    "vehicle.telemetry.position": (40, ("KAFKA",)),
    "vehicle.telemetry.battery": (20, ("KAFKA",)),
    "vehicle.telemetry.tyres": (8, ("KAFKA",)),
    "vehicle.trip.started": (6, ("KAFKA",)),
    "vehicle.trip.ended": (6, ("KAFKA",)),
    "order.placed": (6, ("", "HTTP", "KAFKA")),
    "order.paid": (5, ("", "HTTP", "KAFKA")),
    "order.cancelled": (2, ("", "HTTP", "KAFKA")),
    "station.overheated": (3, ("MQTT/5.0",)),
    "station.offline": (3, ("MQTT/5.0",)),
    "station.tampered": (1, ("MQTT/5.0",)),
    "ride.ended": (4, ("KAFKA",)),
    "dock.status": (4, ("NATS",)),
    "repair.reported": (1, ("AMQP/1.0",)),
    "weather.observed": (2, ("", "HTTP")),
}
WRONG_SHARE = 0.05
# Of the wrong ones: a rule broken, a type nobody defined, a line cut off on its way.
WRONG_WAYS = {"invalid": 80, "unmatched": 14, "malformed": 6}


@dataclass(frozen=True)
class Parcel:
    """One line of traffic and what ought to become of it."""

    line: str
    outcome: str
    message: str


class Traffic:
    """A stream of parcels made from the catalog's own definitions."""

    def __init__(self, catalog: Catalog, seed: int = 7) -> None:
        self.rng = random.Random(seed)
        self.makers = {name: catalog.message(name).maker for name in MIX}
        self.expected: Counter[tuple[str, str]] = Counter()

    def parcels(self, count: int) -> Iterator[Parcel]:
        """So many parcels; `expected` counts what ought to become of them."""
        names, weights = list(MIX), [weight for weight, _ in MIX.values()]
        for name in self.rng.choices(names, weights, k=count):
            parcel = self._wrong(name) if self.rng.random() < WRONG_SHARE else self._right(name)
            self.expected[parcel.outcome, parcel.message] += 1
            yield parcel

    def _right(self, name: str) -> Parcel:
        maker = self.makers[name]
        record = maker.make(self._variables(maker), AUTO, **self._options(name))
        return Parcel(json.dumps(render_record(record)), "landed", maker.definition.xid)

    def _wrong(self, name: str) -> Parcel:
        maker = self.makers[name]
        way = self.rng.choices(list(WRONG_WAYS), list(WRONG_WAYS.values()))[0]
        if way == "invalid":
            record, _ = make_invalid(maker, self._variables(maker), **self._options(name))
            return Parcel(json.dumps(render_record(record)), way, maker.definition.xid)
        line = self._right(name).line
        if way == "malformed":
            return Parcel(line[: len(line) // 3], way, "")
        return Parcel(json.dumps(self._undefined()), way, "")

    def _undefined(self) -> dict[str, Any]:
        return {
            "specversion": "1.0",
            "id": f"u-{self.rng.randrange(10**9)}",
            "source": "https://legacy.harbour-mobility.example/billing",
            "type": self.rng.choice(("com.harbour-mobility.invoice.sent", "com.harbour-mobility.orders.placed")),
            "data": {"number": self.rng.randrange(10**6)},
        }

    def _options(self, name: str) -> dict[str, Any]:
        mode = self.rng.choice(("binary", "structured"))
        return {"protocol": self.rng.choice(MIX[name][1]), "mode": mode, "rng": self.rng}

    def _variables(self, maker: Maker) -> dict[str, str]:
        known = {
            "vin": f"HM{self.rng.randrange(100_000, 100_400)}",
            "depot": self.rng.choice(("oslo", "hamburg", "porto")),
            "trip": f"T{self.rng.randrange(10**6)}",
            "order": f"O{self.rng.randrange(10**6)}",
            "country": self.rng.choice(("no", "de", "pt")),
            "station": f"S{self.rng.randrange(1, 60):02}",
            "bicycle": f"B{self.rng.randrange(1000)}",
            "dock": f"D{self.rng.randrange(1, 40)}",
            "workshop": self.rng.choice(("north", "south")),
        }
        return {name: known[name] for name in maker.variables}
