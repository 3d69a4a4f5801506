"""What somebody searches for, as terms: words and phrases that all have to be found."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import msgspec

from postroom.registry.problems import RegistryProblem
from postroom.registry.search.words import LONGEST_WORD, Word, find_words

LONGEST_QUERY = 1000
MOST_WORDS = 24
_QUOTED = re.compile(r'"([^"]*)"?|[^\s"]+')


class Term(msgspec.Struct, frozen=True):
    """Words that have to follow each other; unless they were quoted, the last may be the beginning of a longer word."""

    words: tuple[str, ...]
    is_prefix: bool

    @property
    def line(self) -> str:
        """What a line of the index contains if the term is in it."""
        return f" {' '.join(self.words)}{'' if self.is_prefix else ' '}"

    @property
    def exact_line(self) -> str:
        """What it contains if the last word is there whole."""
        return f" {' '.join(self.words)} "

    @property
    def plain(self) -> re.Pattern[str] | None:
        """What finds a term that is one word in ASCII in lower case, no word of which has parts; None for others."""
        return _plain(self.words[0], self.is_prefix) if len(self.words) == 1 else None

    def spans(self, words: list[Word]) -> Iterator[tuple[int, int]]:
        """Where the term stands among the words of a text."""
        count = len(self.words)
        for position in range(len(words) - count + 1):
            some = words[position : position + count]
            if self._fits([one.word for one in some]):
                yield some[0].start, some[-1].end

    def _fits(self, words: list[str]) -> bool:
        if self.is_prefix:
            return tuple(words[:-1]) == self.words[:-1] and words[-1].startswith(self.words[-1])
        return tuple(words) == self.words


@functools.lru_cache(maxsize=256)
def _plain(word: str, is_prefix: bool) -> re.Pattern[str]:
    is_open = is_prefix or len(word) == LONGEST_WORD  # of a longer word this is what counts
    return re.compile(f"(?<![a-z0-9]){re.escape(word)}{'[a-z0-9]*' if is_open else '(?![a-z0-9])'}")


def parse_query(text: str, subject: str) -> tuple[Term, ...]:
    """The terms of a query. Nothing in it is an operator but the quotes of phrases."""
    if len(text) > LONGEST_QUERY:
        detail = f"q has {len(text):,} characters, and at most {LONGEST_QUERY:,} are searched for; leave some out"
        raise RegistryProblem("bad_request", subject, error_detail=detail)
    terms: dict[Term, None] = {}
    for found in _QUOTED.finditer(text):
        is_quoted = found[0].startswith('"')
        words = tuple(one.word for one in find_words(found[1] if is_quoted else found[0]))
        if words:
            # One letter would be the beginning of most words.
            terms[Term(words, not is_quoted and (len(words) > 1 or len(words[-1]) > 1))] = None
    count = sum(len(term.words) for term in terms)
    if count > MOST_WORDS:
        detail = f"q has {count} words, and at most {MOST_WORDS} are searched for; leave some out"
        raise RegistryProblem("bad_request", subject, error_detail=detail)
    return tuple(terms)
