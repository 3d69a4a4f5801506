"""Answers that were rendered before, kept as long as what they show does not change."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Hashable

from postroom.http.server.representation import Representation
from postroom.store.change_follower import Changed

LARGEST_SHARE = 8
MOST_DROPPED = 50_000
"""How many changed parts are remembered, for answers that were begun before the change and are done after it."""
ANY = ""
"""The part of answers that may show anything; every commit drops them."""


class ResponseCache:
    """Bounded by memory; the least recently used answers go first. A change drops the answers that show it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[Hashable, tuple[Representation, str, int]] = OrderedDict()
        self._by_part: defaultdict[str, set[Hashable]] = defaultdict(set)
        self._size = 0
        self._dropped: dict[str, int] = {}
        self._oldest = 0
        self.revision = 0
        """Goes up with every change. An answer is kept if what it shows has not changed since it was begun."""

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> Representation | None:
        """The answer for a key."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, revision: int, answer: Representation, part: str = ANY) -> None:
        """Keep an answer that shows a part of the registry; `revision` is that of before it was rendered."""
        is_late = revision < self._oldest or self._dropped.get(part, 0) > revision
        if is_late:
            return
        size = answer.size
        if size * LARGEST_SHARE > self._limit:
            return
        self._remove(key)
        self._kept[key] = answer, part, size
        self._by_part[part].add(key)
        self._size += size
        while self._size > self._limit:
            self._remove(next(iter(self._kept)))

    def drop(self, changed: Changed) -> None:
        """Forget what shows something that has changed."""
        self.revision += 1
        if changed.everything or len(self._dropped) > MOST_DROPPED:
            self._kept.clear()
            self._by_part.clear()
            self._dropped.clear()
            self._size, self._oldest = 0, self.revision
            return
        for part in (ANY, *changed.parts):
            self._dropped[part] = self.revision
            for key in tuple(self._by_part.get(part, ())):
                self._remove(key)

    def _remove(self, key: Hashable) -> None:
        found = self._kept.pop(key, None)
        if found is None:
            return
        _, part, size = found
        self._size -= size
        keys = self._by_part[part]
        keys.discard(key)
        if not keys:
            del self._by_part[part]
