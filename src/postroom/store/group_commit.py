"""Turns to write, and commits that small writes share: whoever finds others waiting leaves the commit to them.

A commit waits for the disk, or for a database elsewhere, longer than a small write computes. So a write that is done
while others wait for their turn does not commit, and is not done for whoever asked for it either, until one of those
that follow has committed for all of them. A write that is refused is undone by itself; it may be refused because of
those before it, so that nobody hears of that before their commit either. Alone, a write commits at once.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from postroom.registry.problems import RegistryProblem

MOST_MEMBERS = 32
LONGEST_SECONDS = 0.05
"""A commit is put off no further once its first write began so long ago."""
RETRY_SECONDS = 5


class DatabaseTransaction(Protocol):
    """A transaction of a database that was begun, in which writes follow each other."""

    def mark(self) -> None:
        """Begin another write in it."""

    def undo(self) -> None:
        """Take back what was written since the last mark."""

    def commit(self) -> None:
        """Keep everything."""

    def rollback(self) -> None:
        """Keep nothing; never fails."""

    def close(self) -> None:
        """Do what is left to do when it is over, and everybody knows how it ended."""


T = TypeVar("T", bound=DatabaseTransaction)


class CommitGroup(Generic[T]):
    """Writes that are committed together."""

    def __init__(self, transaction: T) -> None:
        self.transaction = transaction
        self._until = time.monotonic() + LONGEST_SECONDS
        self._latches: list[threading.Lock] = []
        self._error: BaseException | None = None

    @property
    def has_members(self) -> bool:
        """Whether a write in it is done and waits for the commit."""
        return bool(self._latches)

    @property
    def has_room(self) -> bool:
        """Whether another write may join."""
        return len(self._latches) < MOST_MEMBERS and time.monotonic() < self._until

    def join(self) -> Callable[[], None]:
        """Add a write that is done; the function that waits for the commit, and raises what it failed with."""
        latch = threading.Lock()
        latch.acquire()
        self._latches.append(latch)

        def wait() -> None:
            latch.acquire()
            if self._error is not None:
                raise self._error

        return wait

    def end(self, error: BaseException | None) -> None:
        """Tell everybody in it that it is committed, or failed."""
        self._error = error
        for latch in self._latches:
            latch.release()


class GroupCommit(Generic[T]):
    """One writer at a time; small writes may share the transaction that `begin` gives."""

    def __init__(self, begin: Callable[[], T], wait_s: float) -> None:
        self._begin = begin
        self._wait = wait_s
        self._turn = threading.Lock()
        self._counting = threading.Lock()
        self._waiting = 0
        """How many wait for their turn."""
        self._group: CommitGroup[T] | None = None
        """The writes that are done and not committed; whoever has the turn sees to it that somebody will do so."""

    @contextmanager
    def write(self, *, is_small: bool) -> Iterator[T]:
        """The transaction to write in, alone unless the write is small; it is committed when the block ends well."""
        refusal: BaseException | None = None
        self._take_turn()
        try:
            group = self._open(is_small=is_small)
            try:
                yield group.transaction
            except BaseException as error:
                if not self._undo(group, error):
                    raise
                refusal = error
            wait = group.join()
            if not (is_small and self._waiting and group.has_room):
                self._end(group)
        finally:
            self._turn.release()
            self._end_abandoned()
        wait()
        if refusal is not None:
            raise refusal

    def _take_turn(self) -> None:
        if self._turn.acquire(blocking=False):
            return
        with self._counting:
            self._waiting += 1
        try:
            is_taken = self._turn.acquire(timeout=self._wait)
        finally:
            with self._counting:
                self._waiting -= 1
        if not is_taken:
            self._end_abandoned()
            raise busy(f"Others have been writing for {self._wait:g} seconds.")

    def _open(self, *, is_small: bool) -> CommitGroup[T]:
        """The group at hand with a mark in it, or a new one."""
        group = self._group
        if group is not None and not (is_small and group.has_room):
            self._end(group)
            group = None
        if group is None:
            self._group = CommitGroup(self._begin())
            return self._group
        try:
            group.transaction.mark()
        except BaseException as error:
            self._fail(group, error)
            raise
        return group

    def _undo(self, group: CommitGroup[T], error: BaseException) -> bool:
        """Take back one write; whether it was refused for what others wrote, which is to be committed first.

        Those do not fail with it, unless the database gave up the transaction.
        """
        if group.has_members:
            with contextlib.suppress(Exception):  # whatever it is, what the others wrote is lost as well
                group.transaction.undo()
                return True
        self._fail(group, error)
        return False

    def _end(self, group: CommitGroup[T]) -> None:
        self._group = None
        try:
            group.transaction.commit()
        except BaseException as error:  # noqa: BLE001 - each of its writes raises it
            group.transaction.rollback()
            group.end(error)
        else:
            group.end(None)
        group.transaction.close()

    def _fail(self, group: CommitGroup[T], error: BaseException) -> None:
        self._group = None
        group.transaction.rollback()
        group.end(error)
        group.transaction.close()

    def _end_abandoned(self) -> None:
        """End a group whose last write left it to somebody who has given up waiting meanwhile."""
        if self._group is not None and not self._waiting and self._turn.acquire(blocking=False):
            try:
                if self._group is not None:
                    self._end(self._group)
            finally:
                self._turn.release()


def busy(detail: str) -> RegistryProblem:
    """The refusal of what cannot be done now."""
    return RegistryProblem("server_busy", "/", detail=detail, headers={"retry-after": str(RETRY_SECONDS)})
