"""Random UUIDs (version 4), many at a time where no seed asks for particular ones."""

from __future__ import annotations

import os
import random
from operator import itemgetter
from typing import Any

_LAYOUT = b"00000000-0000-0000-0000-000000000000\n"
_DIGITS = [index for index, character in enumerate(_LAYOUT) if character == ord("0")]
_VERSION, _VARIANT = 14, 19
"""The indexes of two digits that are not, or not wholly, random."""
_VARIANTS = bytes.maketrans(b"0123456789abcdef", b"89ab" * 4)
_BATCH = 256
_RANDOM_BITS = ~(0xC000 << 48 | 0xF000 << 64)
_VERSION_BITS = 0x8000 << 48 | 4 << 76
_PARTS = itemgetter(slice(0, 8), slice(8, 12), slice(12, 16), slice(16, 20), slice(20, 32))


class UnseededRandom(random.Random):
    """A random generator that nobody seeded, with a store of UUIDs."""

    store: list[str]

    def seed(self, *seed: Any) -> None:
        """Seed anew and forget the store, so that two processes never return the same UUIDs."""
        super().seed(*seed)
        self.store = []

    def refill(self) -> str:
        """Fill the store and return one more UUID."""
        first, *others = random_uuids(_BATCH)
        self.store += others
        return first


def random_uuid(rng: random.Random) -> str:
    """Generate a UUID."""
    if type(rng) is UnseededRandom:
        try:
            return rng.store.pop()
        except IndexError:
            return rng.refill()
    # What uuid.UUID(int=…, version=4) gives, in a fraction of the time.
    bits = rng.getrandbits(128) & _RANDOM_BITS | _VERSION_BITS
    return "-".join(_PARTS("%032x" % bits))  # noqa: UP031 - a third of the time of a format


def random_uuids(count: int) -> list[str]:
    """Generate so many UUIDs."""
    digits = os.urandom(16 * count).hex().encode()
    strings = bytearray(_LAYOUT * count)
    # One digit of all strings after the other: a few dozen steps, however many strings there are.
    for number, index in enumerate(_DIGITS):
        strings[index :: len(_LAYOUT)] = digits[number::32]
    strings[_VERSION :: len(_LAYOUT)] = b"4" * count
    strings[_VARIANT :: len(_LAYOUT)] = strings[_VARIANT :: len(_LAYOUT)].translate(_VARIANTS)
    return strings.decode().split()
