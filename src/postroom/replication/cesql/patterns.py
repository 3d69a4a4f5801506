"""The patterns of LIKE: `%` for any characters, `_` for one, a backslash before either for the sign itself."""

from __future__ import annotations

import functools
import re

import msgspec


class Piece(msgspec.Struct, frozen=True):
    """What stands between two percent signs: so many characters, some of which may be any."""

    length: int
    form: re.Pattern[str]

    def fits(self, text: str, at: int) -> bool:
        """Whether the text has it at a place."""
        return self.form.match(text, at, at + self.length) is not None


class Pattern(msgspec.Struct, frozen=True):
    """A pattern, cut at its percent signs."""

    pieces: tuple[Piece, ...]
    longest: int

    def matches(self, text: str) -> bool:
        """Whether the whole text fits: each piece is taken where it first fits, and nothing ever has to go back."""
        first, last = self.pieces[0], self.pieces[-1]
        if len(self.pieces) == 1:
            return len(text) == first.length and first.fits(text, 0)
        end = len(text) - last.length
        if end < first.length or not first.fits(text, 0) or not last.fits(text, end):
            return False
        at = first.length
        for piece in self.pieces[1:-1]:
            found = piece.form.search(text, at, end)
            if found is None:
                return False
            at = found.end()
        return True

    def cost(self, text: str) -> int:
        """How many steps a match may take at most."""
        return len(text) * max(1, self.longest)


@functools.lru_cache(maxsize=1024)
def parse_pattern(pattern: str) -> Pattern:
    """The pattern as a value."""
    pieces: list[list[str]] = [[]]
    for sign in re.findall(r"\\[%_]|.", pattern, re.DOTALL):
        if sign == "%":
            pieces.append([])
        else:
            pieces[-1].append("." if sign == "_" else re.escape(sign[-1]))
    made = tuple(Piece(len(piece), re.compile("".join(piece), re.DOTALL)) for piece in pieces)
    return Pattern(made, max(piece.length for piece in made))
