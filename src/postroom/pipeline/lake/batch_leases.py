"""Leases: which batches are being sorted, so that files which nobody will ever commit are told from those that
somebody still might.

A lease is a small file, `_claims/<run>-<batch>`. Who sorts the batch holds a lock on it for as long as the process
lives. When the batch is in the ledger, its manifest is laid beside the lease: it names the files that count.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from postroom.errors import LakeRefused
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.manifest import Manifest, manifest_path

# The states of a lease: its process works or died at it, has ended the batch, or was found dead (or failed). One
# without a state was made for a process that cannot hold a lock.
HELD, ENDED, DEAD = b"held", b"ended", b"dead"

# Workers of a driver that was killed may write for some seconds more: their lease stays so long.
LINGER_S = 60.0
# A lease without a lock counts as given up when nothing has come of it for so long.
LONG_AGO_S = 7 * 24 * 3600.0


class Lease(msgspec.Struct, frozen=True):
    """A batch whose process is gone; `note` is its manifest if the batch is in the lake."""

    path: Path
    state: bytes
    age_s: float

    @property
    def batch_name(self) -> str:
        """Run and batch, as files and rows have it."""
        return self.path.name

    @property
    def note(self) -> Path:
        """The manifest of the batch, once it is done."""
        return self.path.with_suffix(".json")

    @property
    def is_expired(self) -> bool:
        """Whether surely nobody works on the batch any more; one that is done needs no proof."""
        return self.state != b"" or self.age_s > LONG_AGO_S or self.note.exists()

    def files(self) -> frozenset[str]:
        """The names of the files that the batch brought into the lake."""
        if not self.note.exists():
            return frozenset()
        manifest = msgspec.json.decode(self.note.read_bytes(), type=Manifest)
        return frozenset(file.path for table in manifest.tables for file in table.files)

    def settle(self) -> None:
        """Forget a lease whose files are swept, or remember that its process was found dead."""
        if self.state == HELD:
            self.path.write_bytes(DEAD)
        elif self.state != DEAD or self.age_s > LINGER_S:
            self.note.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)


@contextmanager
def hold_lease(lake: Lake, run: str, batch: int) -> Iterator[None]:
    """Hold the lease of a batch and its files for as long as this lasts, or until the process dies."""
    with guarded(lake):
        file = _path(lake, run, batch).open("a+b")
        if not _locked(file.fileno()):
            file.close()
            raise LakeRefused(f"another process is sorting batch {run}-{batch}.", place=str(lake.root))
        _set_state(file, HELD)
    with file:
        try:
            yield
        except BaseException:
            _set_state(file, DEAD)
            raise
        _set_state(file, ENDED)


def leave_lease(lake: Lake, run: str, batch: int) -> None:
    """Lease a batch for a process that cannot hold a lock, such as a Spark program that writes by format."""
    with guarded(lake):
        _path(lake, run, batch).touch()


def put_by(lake: Lake, manifest: Manifest) -> None:
    """Lay the manifest of a batch that is in the ledger beside its lease; without a lease nobody needs it."""
    done, path = manifest_path(lake, manifest.run, manifest.batch), _path(lake, manifest.run, manifest.batch)
    if path.exists():
        done.replace(path.with_suffix(".json"))
    else:
        done.unlink(missing_ok=True)


def expired_leases(lake: Lake) -> list[Lease]:
    """The leases of batches on which surely nobody works any more; for who has `guarded` the lake."""
    found = [_read(path) for path in _paths(lake)]
    return [each for each in found if each is not None and each.is_expired]


def has_leases(lake: Lake) -> bool:
    """Whether there is a lease at all, living or past."""
    return any(True for _ in _paths(lake))


@contextmanager
def guarded(lake: Lake) -> Iterator[None]:
    """Keep others from making a lease or settling one."""
    lake.claims.mkdir(exist_ok=True)
    with (lake.claims / ".lock").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _path(lake: Lake, run: str, batch: int) -> Path:
    return lake.claims / f"{run}-{batch}"


def _paths(lake: Lake) -> Iterator[Path]:
    return (path for path in lake.claims.glob("[!.]*") if path.suffix != ".json")


def _read(path: Path) -> Lease | None:
    """A lease that nobody holds."""
    with path.open("rb") as file:
        if not _locked(file.fileno()):
            return None
        return Lease(path, file.read(), time.time() - path.stat().st_mtime)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _set_state(file: BinaryIO, what: bytes) -> None:
    file.truncate(0)
    file.write(what)
    file.flush()
