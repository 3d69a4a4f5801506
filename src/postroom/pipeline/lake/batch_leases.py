"""Leases: which batches are being sorted, so that files which nobody will ever commit are told from those that
somebody still might.

A lease is a small file, `_claims/<run>-<batch>`. Who sorts the batch holds it for as long as the process lives: in a
folder by a lock of the kernel, in an object store by writing it anew every few seconds. When the batch is in the
ledger, its manifest is laid beside the lease: it names the files that count.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import msgspec

from postroom.errors import LakeRefused
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.lake import CLAIMS, Lake
from postroom.pipeline.lake.manifest import Manifest, manifest_path
from postroom.pipeline.storage.interface import LeaseTaken, SeenLease

# The states of a lease: its process works or died at it, has ended the batch, or was found dead (or failed), after
# which its files are swept, in the end once more. One without a state was made for a process that cannot hold it.
HELD, ENDED, DEAD, SWEPT = b"held", b"ended", b"dead", b"swept"

# Workers of a driver that was killed may write for some seconds more: their lease stays so long.
LINGER_S = 60.0
# Where no kernel says that a process is gone, it may be cut off for a while: longer than requests are tried again.
SILENT_S = 300.0
# A lease that nobody holds counts as given up when nothing has come of it for so long.
LONG_AGO_S = 7 * 24 * 3600.0


class Lease(msgspec.Struct, frozen=True):
    """A batch whose process is gone; `note` is its manifest if the batch is in the lake."""

    lake: Lake
    batch_name: str
    seen: SeenLease
    has_note: bool

    @property
    def path(self) -> str:
        """Where in the lake it lies."""
        return f"{CLAIMS}/{self.batch_name}"

    @property
    def note(self) -> str:
        """The manifest of the batch, once it is done."""
        return f"{self.path}.json"

    @property
    def is_expired(self) -> bool:
        """Whether surely nobody works on the batch any more; one that is done needs no proof."""
        if self.seen.state == SWEPT:
            return self.seen.age_s > LONG_AGO_S
        if self.seen.state == HELD and self.lake.storage.folder is None and not self.has_note:
            return self.seen.age_s > SILENT_S
        return self.seen.state != b"" or self.seen.age_s > LONG_AGO_S or self.has_note

    def files(self) -> frozenset[str]:
        """The names of the files that the batch brought into the lake."""
        if not self.has_note:
            return frozenset()
        manifest = msgspec.json.decode(self.lake.storage.read(self.note), type=Manifest)
        return frozenset(file.path for table in manifest.tables for file in table.files)

    def give_up(self) -> bool:
        """Keep the batch from being committed by a process that only seems dead; False when it lives after all."""
        if self.lake.storage.folder is not None or self.has_note or self.seen.state == ENDED:
            return True
        state = SWEPT if self.seen.state in (DEAD, SWEPT) and self.seen.age_s > LINGER_S else DEAD
        return self.lake.storage.mark(self.path, self.seen, state)

    def settle(self) -> None:
        """Forget a lease whose files are swept, or remember that its process was found dead."""
        if self.seen.state == HELD and self.lake.storage.folder is not None:
            self.lake.storage.mark(self.path, self.seen, DEAD)
        elif self._is_over:
            self.lake.storage.delete([self.note, self.path])

    @property
    def _is_over(self) -> bool:
        if self.lake.storage.folder is not None:
            return self.seen.state != DEAD or self.seen.age_s > LINGER_S
        # Nothing else keeps a process from committing that was suspended, and goes on now.
        return self.has_note or self.seen.state == ENDED or (self.seen.state == SWEPT and self.is_expired)


@contextmanager
def hold_lease(lake: Lake, run: str, batch: int) -> Iterator[None]:
    """Hold the lease of a batch and its files for as long as this lasts, or until the process dies."""
    path = _path(run, batch)
    taking = lake.storage.hold(path)
    with guarded(lake):
        try:
            lease = taking.__enter__()
        except LeaseTaken:
            raise LakeRefused(f"another process is sorting batch {run}-{batch}.", place=lake.url) from None
        lease.set_state(HELD)
    try:
        yield
    except BaseException:
        lease.set_state(DEAD)
        raise
    else:
        lease.set_state(ENDED)
    finally:
        taking.__exit__(None, None, None)


def leave_lease(lake: Lake, run: str, batch: int) -> None:
    """Lease a batch for a process that cannot hold it, such as a Spark program that writes by format."""
    path = _path(run, batch)
    with guarded(lake):
        if not lake.storage.exists(path):
            lake.storage.create(path, b"")


def give_up_lease(lake: Lake, job: Job) -> None:
    """Say of a batch whose process cannot hold its lease that it failed: its files are swept, unless promised."""
    path = _path(job.run, job.batch)
    with guarded(lake):
        seen = lake.storage.look(path)
        if seen is not None and seen.state == b"":
            lake.storage.mark(path, seen, DEAD)


def check_lease(lake: Lake, job: Job) -> None:
    """Raise when a batch was given up, because its driver seemed dead: its files may be gone."""
    if lake.storage.folder is None:
        seen = lake.storage.look(_path(job.run, job.batch))
        if seen is not None and seen.state in (DEAD, SWEPT):
            raise LakeRefused("this batch was given up: nothing was heard of it for too long.", place=lake.url)


def put_by(lake: Lake, manifest: Manifest) -> None:
    """Lay the manifest of a batch that is in the ledger beside its lease; without a lease nobody needs it."""
    done, path = manifest_path(manifest.run, manifest.batch), _path(manifest.run, manifest.batch)
    if lake.storage.exists(path):
        lake.storage.move(done, f"{path}.json")
    else:
        lake.storage.delete([done])


def expired_leases(lake: Lake) -> list[Lease]:
    """The leases of batches on which surely nobody works any more; for who has `guarded` the lake."""
    there = set(_names(lake))
    names = sorted(name for name in there if not name.endswith(".json"))
    found = lake.storage.map(lambda name: (name, lake.storage.look(f"{CLAIMS}/{name}")), names)
    leases = (Lease(lake, name, seen, f"{name}.json" in there) for name, seen in found if seen and not seen.is_held)
    return [lease for lease in leases if lease.is_expired]


def open_batches(lake: Lake) -> set[str]:
    """The batches that are leased and not in the ledger: somebody may be at work on them."""
    there = set(_names(lake))
    return {name for name in there if not name.endswith(".json") and f"{name}.json" not in there}


def has_leases(lake: Lake) -> bool:
    """Whether there is a lease at all, living or past."""
    return any(not name.endswith(".json") for name in _names(lake))


def guarded(lake: Lake) -> AbstractContextManager[None]:
    """Keep others from making a lease or settling one."""
    return lake.storage.guard(f"{CLAIMS}/.lock")


def _path(run: str, batch: int) -> str:
    return f"{CLAIMS}/{run}-{batch}"


def _names(lake: Lake) -> Iterator[str]:
    return (name for name in lake.storage.names(CLAIMS) if not name.startswith("."))
