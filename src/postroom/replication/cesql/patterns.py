"""The patterns of LIKE: `%` for any characters, `_` for one, a backslash before either for the sign itself."""

from __future__ import annotations

import functools
import re

import msgspec

ANY = None
Piece = tuple[str | None, ...]


class Pattern(msgspec.Struct, frozen=True):
    """The pieces between the percent signs; a character that is None stands for any one."""

    pieces: tuple[Piece, ...]

    def matches(self, text: str) -> bool:
        """Whether the whole text fits: each piece is taken where it first fits, and nothing ever has to go back."""
        first, last = self.pieces[0], self.pieces[-1]
        if len(self.pieces) == 1:
            return len(text) == len(first) and _fits(first, text, 0)
        end = len(text) - len(last)
        if end < len(first) or not _fits(first, text, 0) or not _fits(last, text, end):
            return False
        at = len(first)
        for piece in self.pieces[1:-1]:
            at = _found(piece, text, at, end)
            if at < 0:
                return False
        return True

    def cost(self, text: str) -> int:
        """How many steps a match may take at most."""
        return len(text) * max(1, *(len(piece) for piece in self.pieces))


@functools.lru_cache(maxsize=1024)
def parse_pattern(pattern: str) -> Pattern:
    """The pattern as a value."""
    pieces: list[list[str | None]] = [[]]
    for sign in re.findall(r"\\[%_]|.", pattern, re.DOTALL):
        if sign == "%":
            pieces.append([])
        else:
            pieces[-1].append(ANY if sign == "_" else sign[-1])
    return Pattern(tuple(tuple(piece) for piece in pieces))


def _fits(piece: Piece, text: str, at: int) -> bool:
    return all(sign is ANY or text[at + number] == sign for number, sign in enumerate(piece))


def _found(piece: Piece, text: str, at: int, end: int) -> int:
    """Where the text goes on behind the first place that a piece fits; -1 when there is none."""
    if ANY not in piece:
        found = text.find("".join(sign for sign in piece if sign), at, end)
        return found + len(piece) if found >= 0 else -1
    for start in range(at, end - len(piece) + 1):
        if _fits(piece, text, start):
            return start + len(piece)
    return -1
