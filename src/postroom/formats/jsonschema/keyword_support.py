"""What a draft of JSON Schema makes of its keywords, found out by asking the validator itself.

Comparing must agree with validating about every keyword. Which formats and encodings are asserted, for one, depends on
the draft, the library and our settings, so it is seen from how a tiny document judges a few payloads.
"""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from postroom.formats.format_table import parse_schema
from postroom.formats.jsonschema.drafts import draft_named

# Texts of which every format that is checked at all refuses one.
_ODD_TEXTS = (b'""', b'"("', b'" "', b'"%%\\u0000 {"', b'"-1"')


class Dialect(msgspec.Struct, frozen=True):
    """A draft of JSON Schema, by our name for it."""

    name: str

    @property
    def number(self) -> int:
        """The draft's number: 4, 6, 7, 19 or 20."""
        draft = draft_named(self.name)
        return draft.number if draft else 20

    @property
    def ref_alone(self) -> bool:
        """Whether `$ref` hides what stands beside it."""
        return self.number <= 7

    @property
    def exact_integers(self) -> bool:
        """Whether 1.0 is not an integer."""
        return self.refuses({"type": "integer"}, b"1.0")

    def asserts(self, keyword: str, value: str) -> bool:
        """Whether a format or encoding is checked rather than only noted."""
        return any(self.refuses({keyword: value}, text) for text in _ODD_TEXTS)

    def refuses(self, document: dict[str, Any], payload: bytes) -> bool:
        """Whether a tiny document refuses a payload."""
        return _refuses(self.name, msgspec.json.encode(document), payload)


@functools.lru_cache(maxsize=1024)
def _refuses(draft: str, document: bytes, payload: bytes) -> bool:
    return bool(parse_schema(f"JsonSchema/{draft}", document).validate(payload)[1])
