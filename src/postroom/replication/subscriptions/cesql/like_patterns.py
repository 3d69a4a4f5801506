"""The patterns of LIKE: `%` for any characters, `_` for one, a backslash before either for the sign itself."""

from __future__ import annotations

import itertools
import re

import msgspec

_SIGN = re.compile(r"\\[%_]|.", re.DOTALL)


class LikeSegment(msgspec.Struct, frozen=True):
    """The part between two percent signs: so many characters, some of which may be any."""

    length: int
    runs: tuple[tuple[int, str], ...]
    """The characters that are fixed, those next to each other together, each with its index in the segment."""

    def fits(self, text: str, at: int) -> bool:
        """Whether the string has it at an index."""
        return len(text) - at >= self.length and all(text.startswith(run, at + index) for index, run in self.runs)

    def find(self, text: str, at: int, end: int) -> int:
        """The first index where the string has it between two others; -1 when there is none."""
        if not self.runs:
            return at if at + self.length <= end else -1
        index, run = self.runs[0]
        while at + self.length <= end:
            at = text.find(run, at + index, end) - index
            if at < 0 or at + self.length > end:
                return -1
            if self.fits(text, at):
                return at
            at += 1
        return -1


class LikePattern(msgspec.Struct, frozen=True):
    """A pattern, cut at its percent signs."""

    segments: tuple[LikeSegment, ...]
    longest: int

    def matches(self, text: str) -> bool:
        """Whether the whole string fits: each segment is taken where it first fits, and nothing ever has to go back."""
        first, last = self.segments[0], self.segments[-1]
        if len(self.segments) == 1:
            return len(text) == first.length and first.fits(text, 0)
        end = len(text) - last.length
        if end < first.length or not first.fits(text, 0) or not last.fits(text, end):
            return False
        at = first.length
        for segment in self.segments[1:-1]:
            found = segment.find(text, at, end)
            if found < 0:
                return False
            at = found + segment.length
        return True

    def cost(self, text: str) -> int:
        """How many steps a match may take at most."""
        return len(self.segments) + len(text) * max(1, self.longest)


def parse_pattern(pattern: str) -> LikePattern:
    """The pattern as a value."""
    segments: list[list[str]] = [[]]
    for sign in _SIGN.findall(pattern):
        if sign != "%":
            segments[-1].append(sign)
        elif segments[-1] or len(segments) == 1:
            segments.append([])
    made = tuple(map(_segment, segments))
    return LikePattern(made, max(segment.length for segment in made))


def _segment(signs: list[str]) -> LikeSegment:
    runs: list[tuple[int, str]] = []
    for is_any, group in itertools.groupby(enumerate(signs), lambda one: one[1] == "_"):
        if not is_any:
            indexes, found = zip(*group, strict=True)
            runs.append((indexes[0], "".join(sign[-1] for sign in found)))
    return LikeSegment(len(signs), tuple(runs))
