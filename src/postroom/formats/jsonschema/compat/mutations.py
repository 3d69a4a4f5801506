"""New payloads from known ones: parts exchanged, changed or left out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from postroom.formats.jsonschema.compat.boundary_values import odd_values


def mixtures(values: list[Any], rng: random.Random, count: int) -> Iterator[Any]:
    """New values by exchanging and changing parts of known ones."""
    if not values:
        return
    for _ in range(count):
        yield _mixed(rng.choice(values), rng.choice(values), rng)


def _mixed(first: Any, second: Any, rng: random.Random) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        names = sorted({*first, *second})
        mixed = {name: rng.choice([v[name] for v in (first, second) if name in v]) for name in names}
        chosen = [name for name in names if rng.random() < 0.7]
        if chosen and rng.random() < 0.3:
            name = rng.choice(chosen)
            mixed[name] = _mixed(mixed[name], rng.choice(odd_values()), rng)
        return {name: mixed[name] for name in chosen}
    if isinstance(first, list) and isinstance(second, list):
        both = [*first, *second]
        return [rng.choice(both) for _ in range(rng.randint(0, min(len(both), 8)))]
    return rng.choice((first, second))


def simpler(value: Any) -> Iterator[Any]:
    """The same value with one thing less."""
    if isinstance(value, dict):
        for name in value:
            yield {other: part for other, part in value.items() if other != name}
        for name, part in value.items():
            yield from ({**value, name: less} for less in simpler(part))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, part in enumerate(value):
            yield from ([*value[:index], less, *value[index + 1 :]] for less in simpler(part))
