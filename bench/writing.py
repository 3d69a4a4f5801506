"""What a write costs with lint beside it: counted (lenient) or refusing (strict), against a registry without lint."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from bench.latency import message_definition
from bench.measure import Ratio, cpu_of, ratio
from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import RULES, rules_of
from postroom.http.server.request import Request
from postroom.http.xregistry.dispatch import answer
from postroom.registry.rules import Rules, find_nothing
from postroom.settings import Settings

WRITES = 200
GROUP = "/messagegroups/g"
NUMBERS = itertools.count()


def measure() -> Iterator[Ratio]:
    """PUT of a message that has no findings, in this process."""
    without = msgspec.structs.replace(RULES, lint=find_nothing)
    with tempfile.TemporaryDirectory() as folder:
        plain = _writing(f"sqlite:///{folder}/plain.db", without, Settings())
        for settings in (Settings(), Settings(write_rules="strict")):
            subject = _writing(f"sqlite:///{folder}/{settings.write_rules}.db", rules_of(settings), settings)
            yield ratio(f"PUT a message, {settings.write_rules} / without lint", subject, plain, 1.5, 7)


def _writing(url: str, rules: Rules, settings: Settings) -> Callable[[], float]:
    store = open_store(url, rules=rules)

    def ask(method: str, path: str, body: Any) -> None:
        request = Request(method=method, path=path, base="http://bench", body=json.dumps(body).encode())
        assert answer(request, store, settings).status < 300

    def write() -> None:
        for number in range(WRITES):
            ask("PUT", f"{GROUP}/messages/m{number}", {**message_definition(0, number), "name": str(next(NUMBERS))})

    ask(
        "PUT",
        "/schemagroups/g",
        {"schemas": {f"s{n:02}": {"format": "JsonSchema/draft-07", "schema": {}} for n in range(100)}},
    )
    ask("PUT", GROUP, {})
    return lambda: cpu_of(write)
