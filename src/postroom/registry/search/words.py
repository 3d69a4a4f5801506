"""Words of a text, as the search index has them: in lower case, without accents, with `OrderPlaced` in its parts.

Both stores get words that are made here, so that they find the same.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator

import msgspec

LONGEST_WORD = 40
"""Longer words are cut, in texts and in queries alike."""
GAP = "¦"
"""Stands between texts that a phrase does not span; no word has it."""

_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = re.compile(f"[{_IDEOGRAPHS}]|(?:(?![{_IDEOGRAPHS}])[^\\W_]|[\u0300-\u036f])+")
_HUMPED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[0-9]*[a-z]")
"""What a text contains if one of its words has parts."""
_PLAIN_RUN = re.compile(r"[a-z0-9]+")
_LONGEST_KEPT = 100
_CHUNK = re.compile(r"\S+")
_HUMP = re.compile(r"[A-Z]{2,}(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+|[A-Z]|[0-9]+")


class Word(msgspec.Struct, frozen=True):
    """A word and where it stands in its text."""

    word: str
    start: int
    end: int


def find_words(text: str) -> Iterator[Word]:
    """The words of a text, in order. Ideographs and kana, which have no blanks between them, are words of their own."""
    for run in _RUN.finditer(text):
        found, start = run[0], run.start()
        if found.isascii() and not (found.islower() or found.isdigit()):
            for part in _HUMP.finditer(found):
                yield Word(_fold(part[0]), start + part.start(), start + part.end())
        elif folded := _fold(found):
            yield Word(folded, start, run.end())


def has_parts(text: str) -> bool:
    """Whether any of the words of a text in ASCII has parts."""
    return _HUMPED.search(text) is not None


def find_compounds(text: str) -> Iterator[list[Word]]:
    """The words of those runs without blanks in which some have parts, now whole: `orderplaced` finds `OrderPlaced`,
    and `cloudevents/1.0` finds `CloudEvents/1.0`.
    """
    if not has_parts(text):
        return
    for chunk in _CHUNK.finditer(text):
        runs = list(_RUN.finditer(chunk[0]))
        if any(run[0].isascii() and len(_HUMP.findall(run[0])) > 1 for run in runs):
            start = chunk.start()
            yield [Word(_fold(run[0]), start + run.start(), start + run.end()) for run in runs]


def indexed_words(texts: Iterable[str], most: int) -> str:
    """The words of some texts as one line for the index, between blanks; at most so many."""
    words: list[str] = []
    whole: list[str] = []
    for text in texts:
        if len(words) >= most:
            break
        if words:
            words.append(GAP)
        found, compounds = _words_of(text) if len(text) <= _LONGEST_KEPT else _words_of.__wrapped__(text)
        words += found
        whole += compounds
    line = words[:most] + whole[:most]
    return f" {' '.join(line)} " if line else ""


def without_nul(text: str) -> str:
    """A value as the index has it: PostgreSQL keeps no NUL in texts."""
    return text.replace("\x00", "\ufffd")


@functools.lru_cache(maxsize=4096)
def _words_of(text: str) -> tuple[list[str], list[str]]:
    """The words of a text, and its compounds behind gaps. Most short texts of a registry are the same few."""
    if text.isascii() and not has_parts(text):
        found = _PLAIN_RUN.findall(text.lower())
        return found if len(text) <= LONGEST_WORD else [word[:LONGEST_WORD] for word in found], []
    compounds = [word for chunk in find_compounds(text) for word in (GAP, *(one.word for one in chunk))]
    return [one.word for one in find_words(text)], compounds


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()[:LONGEST_WORD]
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(one for one in plain if one.isalnum())[:LONGEST_WORD]
