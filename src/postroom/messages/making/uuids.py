"""Identities: random UUIDs (version 4), many at a time where no seed asks for particular ones."""

from __future__ import annotations

import os
import random
from typing import Any

_FORM = b"00000000-0000-0000-0000-000000000000\n"
_PLACES = [place for place, sign in enumerate(_FORM) if sign == ord("0")]
_VERSION, _VARIANT = 14, 19
"""The places of two digits that are not, or not wholly, left to chance."""
_VARIANTS = bytes.maketrans(b"0123456789abcdef", b"89ab" * 4)
_AT_ONCE = 256


class Chance(random.Random):
    """Chance that nobody seeded, with identities in store."""

    store: list[str]

    def seed(self, *seed: Any) -> None:
        """Start again; what is in store is forgotten, so that two processes never give the same."""
        super().seed(*seed)
        self.store = []

    def identity(self) -> str:
        """A UUID, when there is none in store."""
        first, *others = identities(_AT_ONCE)
        self.store += others
        return first


def identities(count: int) -> list[str]:
    """So many new UUIDs."""
    digits = os.urandom(16 * count).hex().encode()
    texts = bytearray(_FORM * count)
    # One place of all texts after the other: a few dozen steps, however many texts there are.
    for number, place in enumerate(_PLACES):
        texts[place :: len(_FORM)] = digits[number::32]
    texts[_VERSION :: len(_FORM)] = b"4" * count
    texts[_VARIANT :: len(_FORM)] = texts[_VARIANT :: len(_FORM)].translate(_VARIANTS)
    return texts.decode().split()
