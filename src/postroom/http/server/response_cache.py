"""Answers that were rendered for the present state of the store, kept until the state changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from postroom.http.server.representation import Representation

LARGEST_SHARE = 8


class ResponseCache:
    """Bounded by memory; the least recently used answers go first. All of it goes when the state changes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._state: int | None = None
        self._kept: OrderedDict[Hashable, Representation] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, state: int) -> Representation | None:
        """The answer for a key if it was rendered in this state."""
        if state != self._state:
            return None
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: Hashable, state: int, answer: Representation) -> None:
        """Keep an answer; `state` was read before the answer was rendered, so an older one is never kept as newer."""
        is_late = self._state is not None and state < self._state
        if is_late or answer.size * LARGEST_SHARE > self._limit:
            return
        if state != self._state:
            self._kept.clear()
            self._state, self._size = state, 0
        replaced = self._kept.pop(key, None)
        self._kept[key] = answer
        self._size += answer.size - (replaced.size if replaced else 0)
        while self._size > self._limit:
            _, dropped = self._kept.popitem(last=False)
            self._size -= dropped.size
