"""Sample strings: for patterns, for formats, of a wanted length."""

from __future__ import annotations

import random
import string
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import jsonschema_rs

from postroom.errors import SchemaRefused
from postroom.formats.regex_cost import affordable
from postroom.formats.regex_samples import sample_string

_TRIES = 30
_LONGEST = 1_000_000
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_BOUNDED = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)


class StringGenerator:
    """Generates strings that fit several patterns, formats and lengths at once, within a number of tries."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._checks: dict[tuple[str, ...], Callable[[str], bool]] = {}

    def string(self, patterns: list[str], formats: list[str], least: int, most: int | None) -> str:
        """A string; where none is found that fits, the last one tried."""
        if least > _LONGEST:
            raise SchemaRefused(f"no text of {least} characters is invented.", remedy="Give your own with --data.")
        fits = self._fits(tuple(patterns))
        made = ""
        for _ in range(_TRIES):
            made = self._tried(patterns, formats, least, most)
            if least <= len(made) and (most is None or len(made) <= most) and fits(made):
                return made
        return made

    def matches(self, pattern: str, text: str) -> bool:
        """Whether a string fits a pattern, in bounded time."""
        return self._fits((pattern,))(text)

    def _tried(self, patterns: list[str], formats: list[str], least: int, most: int | None) -> str:
        if patterns:
            # Enough repeats to reach the length, few enough not to pass it.
            repeats = self.rng.randint(8, max(8, min(2 * least, 5_000)))
            made = sample_string(self.rng.choice(patterns), self.rng, repeats)
        elif formats and formats[0] in FORMATS:
            made = FORMATS[formats[0]](self.rng)
        else:
            wanted = max(least, min(8, 8 if most is None else most))
            return "".join(self.rng.choices(string.ascii_lowercase, k=wanted))
        # A pattern without an end takes more text behind it.
        return made + "".join(self.rng.choices(string.ascii_lowercase, k=max(0, least - len(made))))

    def _fits(self, patterns: tuple[str, ...]) -> Callable[[str], bool]:
        if patterns not in self._checks:
            schema: dict[str, Any] = {"allOf": [{"pattern": pattern} for pattern in patterns]} if patterns else {}
            is_valid = jsonschema_rs.Draft202012Validator(schema, pattern_options=_BOUNDED).is_valid
            self._checks[patterns] = lambda text: all(affordable(one, text) for one in patterns) and is_valid(text)
        return self._checks[patterns]


def _instant(rng: random.Random) -> datetime:
    return _EPOCH + timedelta(seconds=rng.randrange(0, 300 * 86400))


FORMATS: dict[str, Callable[[random.Random], str]] = {
    "date-time": lambda rng: _instant(rng).isoformat().replace("+00:00", "Z"),
    "date": lambda rng: _instant(rng).date().isoformat(),
    "time": lambda rng: _instant(rng).strftime("%H:%M:%SZ"),
    "duration": lambda rng: f"PT{rng.randrange(1, 600)}M",
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "email": lambda rng: f"{rng.choice(('ada', 'linus', 'grace'))}@example.com",
    "idn-email": lambda rng: f"{rng.choice(('ada', 'linus', 'grace'))}@example.com",
    "uri": lambda rng: f"https://example.com/{rng.randrange(10_000)}",
    "iri": lambda rng: f"https://example.com/{rng.randrange(10_000)}",
    "uri-reference": lambda rng: f"/items/{rng.randrange(10_000)}",
    "iri-reference": lambda rng: f"/items/{rng.randrange(10_000)}",
    "uri-template": lambda rng: f"/items/{{id}}/{rng.randrange(10_000)}",
    "hostname": lambda rng: f"host{rng.randrange(100)}.example.com",
    "idn-hostname": lambda rng: f"host{rng.randrange(100)}.example.com",
    "ipv4": lambda rng: f"192.0.2.{rng.randrange(1, 255)}",
    "ipv6": lambda rng: f"2001:db8::{rng.randrange(1, 65535):x}",
    "json-pointer": lambda rng: f"/items/{rng.randrange(10_000)}",
    "relative-json-pointer": lambda rng: f"{rng.randrange(5)}/items",
    "regex": lambda rng: f"^item-{rng.randrange(100)}$",
    "byte": lambda rng: rng.choice(("cG9zdA==", "cm9vbQ==", "bWFpbA==")),
}
