"""Leases and locks in an object store: one small object each, changed only by conditional puts.

Its holder writes it anew every few seconds. Whoever else wants it watches: when it has not changed for long enough, by
the watcher's own clock, its holder is gone and it may be taken. So no two clocks need to agree. Being late harms nobody
either: who lost a lease learns it from the next put, which the store refuses.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from postroom.errors import LakeRefused, PostroomError
from postroom.pipeline.storage.interface import LeaseTaken, SeenLease

if TYPE_CHECKING:
    from postroom.pipeline.storage.object_store import ObjectStorage

# A holder shows every few seconds that it lives; who is silent for so long is gone.
BEAT_S = 4.0
GONE_S = 20.0
LOOK_S = 0.3


class LeaseDocument(msgspec.Struct, frozen=True):
    """What a lease says: who holds it (nobody when it is empty), how often it was written, and the holder's own words.

    `promised` is a file (path and content) that will be there even if the holder dies now.
    """

    holder: str = ""
    beat: int = 0
    state: str = ""
    promised: tuple[str, str] | None = None


class LeaseLost(Exception):
    """Somebody else has taken the lease."""


class ObjectLease:
    """A lease that this process holds; a thread of its own keeps it."""

    def __init__(self, store: ObjectStorage, path: str, document: LeaseDocument, tag: Any) -> None:
        self._store = store
        self._path = path
        self._document = document
        self._tag = tag
        self._is_lost = False
        self._mutex = threading.Lock()
        self._end = threading.Event()
        self._beats = threading.Thread(target=self._keep, name=f"lease {path}", daemon=True)
        self._beats.start()

    def set_state(self, state: bytes) -> None:
        """Write into it how far we are."""
        with suppress(LeaseLost):  # then it is no longer ours to write
            self._change(state=state.decode())

    def promise(self, path: str, data: bytes) -> None:
        """Make sure that a file will be there, unless the lock was lost: this put decides it."""
        try:
            self._change(promised=(path, data.decode()))
        except LeaseLost:
            raise LakeRefused(
                "another process took over, because the store was away for too long; nothing of this was committed.",
                place=self._store.url,
                remedy="Run it again.",
            ) from None

    def release(self, state: bytes | None = None) -> None:
        """Give it back."""
        self._end.set()
        self._beats.join()
        # Where the store is away, it ends by itself.
        with suppress(LeaseLost, PostroomError):
            words = self._document.state if state is None else state.decode()
            self._change(holder="", state=words, promised=None)

    def _keep(self) -> None:
        while not self._end.wait(BEAT_S) and not self._is_lost:
            # A store that is away now may be back for the next beat.
            with suppress(PostroomError, LeaseLost):
                self._change()

    def _change(self, **values: Any) -> None:
        with self._mutex:
            if self._is_lost:
                raise LeaseLost
            me = self._document.holder
            self._document = msgspec.structs.replace(self._document, beat=self._document.beat + 1, **values)
            data = msgspec.json.encode(self._document)
            tag = self._store.replace(self._path, data, self._tag)
            if tag is None:
                # It was changed: by others, or by a put of ours whose answer was lost.
                found = self._store.fetch(self._path)
                if found is not None and found[0] != data and _document(found[0]).holder == me:
                    tag = self._store.replace(self._path, data, found[1])
                elif found is not None and found[0] == data:
                    tag = found[1]
            if tag is None:
                self._is_lost = True
                raise LeaseLost
            self._tag = tag


@contextmanager
def take(store: ObjectStorage, path: str, *, wait: bool) -> Iterator[ObjectLease]:
    """Take a lease for the block; without `wait` raises LeaseTaken when its holder shows that it lives."""
    lease = _taken(store, path, wait=wait)
    try:
        yield lease
    finally:
        lease.release()


def look(store: ObjectStorage, path: str) -> SeenLease | None:
    """A lease as it is, by the clock of the store."""
    found = store.fetch(path)
    if found is None:
        return None
    data, tag, modified = found
    document = _document(data)
    age_s = store.now(path) - modified
    return SeenLease(document.state.encode(), age_s, bool(document.holder) and age_s <= GONE_S, tag)


def mark(store: ObjectStorage, path: str, seen: SeenLease, state: bytes) -> bool:
    """Write into a lease, if it is still as it was seen."""
    document = LeaseDocument(beat=uuid4().int % 2**53, state=state.decode())
    return store.replace(path, msgspec.json.encode(document), seen.tag) is not None


def _taken(store: ObjectStorage, path: str, *, wait: bool) -> ObjectLease:
    holder = uuid4().hex
    first: bytes | None = None
    watched: tuple[bytes, float] | None = None
    while True:
        found = store.fetch(path)
        if found is None:
            mine = LeaseDocument(holder)
            if store.create(path, msgspec.json.encode(mine)):
                fresh = store.fetch(path)
                if fresh is not None and _document(fresh[0]).holder == holder:
                    return ObjectLease(store, path, _document(fresh[0]), fresh[1])
            continue
        data, tag, modified = found
        document = _document(data)
        if watched is None or watched[0] != data:
            watched = (data, time.monotonic())
            is_old = bool(document.holder) and first is None and store.now(path) - modified > GONE_S
            first = first or data
        if not document.holder or is_old or time.monotonic() - watched[1] > GONE_S:
            _keep_promise(store, document)
            mine = LeaseDocument(holder, document.beat + 1, document.state)
            taken = store.replace(path, msgspec.json.encode(mine), tag)
            if taken is not None:
                return ObjectLease(store, path, mine, taken)
            continue
        if not wait and data != first and first is not None and _document(first).holder == document.holder:
            raise LeaseTaken
        time.sleep(LOOK_S)


def _keep_promise(store: ObjectStorage, document: LeaseDocument) -> None:
    if document.promised is not None:
        path, data = document.promised
        store.create(path, data.encode())


def _document(data: bytes) -> LeaseDocument:
    """What a lease says; a lake that was copied here from a folder has others, which nobody holds."""
    try:
        return msgspec.json.decode(data, type=LeaseDocument)
    except msgspec.DecodeError:
        return LeaseDocument(state=data.decode(errors="replace"))
