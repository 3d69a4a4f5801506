"""A filter at work: what it lets through below an entity, and what the URLs of collections say about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from postroom.registry.query.filter import NOTHING_FITS, Filter, Judgement

EVERYTHING = Judgement(everything=True)
Show = Callable[[Any], Mapping[str, Any]]


def _unseen(_: Any) -> Mapping[str, Any]:
    return {}


class Sieve(msgspec.Struct, frozen=True):
    """Lets entities through: all of them, or those that fit a filter as they are shown to clients."""

    filter: Filter | None = None
    show: Show = _unseen
    is_on: bool = False
    """Whether the request has a filter at all, here or further up."""

    def judge(self, tree: Any) -> Judgement:
        """What of an entity is taken."""
        return EVERYTHING if self.filter is None else self.filter.judge(self.show(tree))

    def below(self, judgement: Judgement, collection: str) -> Sieve:
        """The sieve for the members of a collection."""
        rest = None if judgement.everything else judgement.below.get(collection, NOTHING_FITS)
        return msgspec.structs.replace(self, filter=rest)

    @property
    def takes_nothing(self) -> bool:
        """Whether reading can be spared."""
        return self.filter is not None and not self.filter.alternatives

    def query(self, count: int) -> str:
        """What the URL of a collection with so many members has to end in."""
        if not self.is_on:
            return ""
        wanted = self.filter if count else NOTHING_FITS
        return f"?{wanted.query()}" if wanted is not None else ""


OPEN = Sieve()


def sieve(wanted: Filter | None, show: Show) -> Sieve:
    """The sieve of a request."""
    return OPEN if wanted is None else Sieve(wanted, show, is_on=True)
