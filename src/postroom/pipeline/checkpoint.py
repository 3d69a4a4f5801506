"""A checkpoint: where a stream stands, which run it is, and for which lake, source and catalog.

In a folder, Spark writes its own part there. In an object store that part lies in a folder of this process, and a copy
of it is brought to the store before each batch: Spark's files are written once and never changed, so that a conditional
put decides which records are in a batch, even where two processes believe that the checkpoint is theirs.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import msgspec

from postroom.errors import FolderUnwritable, LakeRefused
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.storage.interface import LeaseTaken, Storage
from postroom.pipeline.storage.open_storage import open_storage

CHECKPOINTS = "_checkpoints"
FILE = "postroom.json"
STREAM = "stream"
LOCK = ".lock"


class Identity(msgspec.Struct, frozen=True):
    """What a checkpoint belongs to; `catalog` is empty where a program gave one that was open already.

    `cluster` is what the brokers of a Kafka source call their cluster; empty for other sources.
    """

    run: str
    lake: str
    source: str
    catalog: str = ""
    cluster: str = ""


# Raises unless a source, by the name it had and what was read of it, is the one of today under another name.
Rebind = Callable[[str, Path], None]


class Checkpoint(msgspec.Struct, frozen=True):
    """A checkpoint in use: the name of the run, and the folder in which Spark writes down what was read."""

    storage: Storage
    stream: Path
    run: str
    resumed: bool

    def save(self) -> None:
        """Bring to the store what Spark has written; before a batch is sorted, so that a restart makes the same one."""
        if self.storage.folder is None:
            _bring(self.stream, self.storage)


@contextmanager
def open_checkpoint(
    place: str | Path,
    lake: Lake,
    source: str,
    catalog: str = "",
    options: Mapping[str, str] | None = None,
    *,
    cluster: str = "",
    rebind: Rebind | None = None,
) -> Iterator[Checkpoint]:
    """The checkpoint at a place, made if it is not there; for one process at a time.

    With `rebind` it belongs from now on to these names of its lake, source and catalog.
    """
    storage = open_storage(place, "a checkpoint", options)
    wanted = Identity(new_run(), lake.url, source, catalog, cluster)
    try:
        if storage.folder is not None:
            storage.folder.mkdir(parents=True, exist_ok=True)
            (storage.folder / LOCK).touch()
    except (FileExistsError, NotADirectoryError):
        raise LakeRefused("this is a file; a checkpoint is a folder.", place=str(place)) from None
    except OSError as error:
        raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(place)) from None
    with _held(storage), _stream_folder(storage) as stream:
        found = _read(storage)
        if found is None:
            storage.write(FILE, msgspec.json.encode(wanted))
        else:
            _compare(storage, found, wanted, lake, stream, rebind)
            now = Identity(found.run, wanted.lake, source, catalog or found.catalog, cluster or found.cluster)
            if now != found:
                storage.write(FILE, msgspec.json.encode(now))
        _forget_false_start(stream)
        yield Checkpoint(storage, stream, (found or wanted).run, found is not None)


@contextmanager
def look_at_checkpoint(
    place: str | Path,
    lake: Lake,
    source: str,
    catalog: str = "",
    options: Mapping[str, str] | None = None,
    *,
    rebind: Rebind | None = None,
) -> Iterator[Checkpoint | None]:
    """The checkpoint at a place as it is, for who only reads it; None where there is none yet."""
    storage = open_storage(place, "a checkpoint", options)
    found = _read(storage)
    if found is None:
        yield None
        return
    with _stream_folder(storage) as stream:
        _compare(storage, found, Identity(found.run, lake.url, source, catalog), lake, stream, rebind)
        yield Checkpoint(storage, stream, found.run, True)


def default_checkpoint(lake: Lake, source: str) -> str:
    """Where the checkpoint of a source lies when nobody says: the one that was rebound to it, if there is such."""
    rebound = (place for place, name in checkpoints_of(lake) if name == source)
    return next(rebound, "") or checkpoint_of(f"{lake.url}/{CHECKPOINTS}", source)


def checkpoint_of(place: str | Path, source: str) -> str:
    """The checkpoint of one source, at a place that has those of several."""
    return f"{place}/{hashlib.sha256(source.encode()).hexdigest()[:16]}"


def check_several(place: str | Path, options: Mapping[str, str] | None = None) -> None:
    """Refuse the checkpoint of one source as a place for those of several."""
    if open_storage(place, "a checkpoint", options).exists(FILE):
        raise LakeRefused(
            "this is the checkpoint of one source.",
            place=str(place),
            remedy="For several, name a folder that has one for each; it is made if it is not there.",
        )


def new_run() -> str:
    """The name of a new run."""
    return uuid4().hex[:12]


@contextmanager
def _held(storage: Storage) -> Iterator[None]:
    taking = storage.hold(LOCK)
    try:
        taking.__enter__()
    except LeaseTaken:
        raise LakeRefused("another process is using this checkpoint.", place=storage.url) from None
    try:
        yield
    finally:
        taking.__exit__(None, None, None)


@contextmanager
def _stream_folder(storage: Storage) -> Iterator[Path]:
    """The folder for Spark's part, as the last process left it."""
    if storage.folder is not None:
        yield storage.folder.absolute() / STREAM
        return
    with tempfile.TemporaryDirectory(prefix="postroom-checkpoint-", ignore_cleanup_errors=True) as scratch:
        stream = Path(scratch) / STREAM
        files = list(_stored(storage))
        for path, data in zip(files, storage.map(storage.read, files), strict=True):
            (Path(scratch) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(scratch) / path).write_bytes(data)
        yield stream


def _bring(stream: Path, storage: Storage) -> None:
    """Copy what is new, what names a batch last; forget what Spark has forgotten."""
    there = set(_stored(storage))
    here = {f"{STREAM}/{path.relative_to(stream)}": path for path in stream.rglob("*") if _is_kept(path)}
    for name in sorted(here.keys() - there, key=lambda name: (name.startswith(f"{STREAM}/offsets/"), name)):
        if not storage.create(name, here[name].read_bytes()):
            raise LakeRefused(
                "another process has gone on with this checkpoint.", place=storage.url, remedy="Only one may use it."
            )
    storage.delete(there - here.keys())


def _is_kept(path: Path) -> bool:
    """Whether a file is part of a checkpoint: not one that is just being written, nor a checksum of Hadoop's."""
    return path.is_file() and not path.name.startswith(".") and not path.name.endswith(".tmp")


def _stored(storage: Storage) -> Iterator[str]:
    """The files of Spark's part in a store."""
    return (file.path for file in storage.everything(STREAM))


def _read(storage: Storage) -> Identity | None:
    try:
        return msgspec.json.decode(storage.read(FILE), type=Identity)
    except FileNotFoundError:
        pass
    except msgspec.DecodeError as error:
        raise LakeRefused(f"this checkpoint cannot be read: {error}.", place=f"{storage.url}/{FILE}") from None
    if storage.folders("") or any(not name.startswith(".") for name in storage.names("")):
        raise LakeRefused(
            "this folder is not empty and not a checkpoint.", place=storage.url, remedy="Name a new or empty folder."
        )
    return None


def _forget_false_start(stream: Path) -> None:
    """Remove what a process left that died while it wrote down its first batch: nothing was handed out yet, and Spark
    takes the unfinished file for somebody else's checkpoint, for ever.
    """
    begun = [path for name in ("offsets", "commits") for path in (stream / name).glob("[0-9]*")]
    if stream.is_dir() and not begun:
        shutil.rmtree(stream)


def _compare(
    storage: Storage, found: Identity, wanted: Identity, lake: Lake, stream: Path, rebind: Rebind | None
) -> None:
    """Refuse a checkpoint of something else; one that is rebound has to be of the same thing under another name."""
    differing = [name for name in ("lake", "source", "catalog") if _differs(found, wanted, name)]
    if differing and rebind is None:
        name = differing[0]
        raise LakeRefused(
            f"this checkpoint belongs to another {name}: {getattr(found, name)}, not {getattr(wanted, name)}.",
            place=storage.url,
            remedy="Name a checkpoint of its own; or, if it is the same under another name, say --rebind.",
        )
    if _differs(found, wanted, "cluster"):
        raise LakeRefused(
            f"this checkpoint belongs to another cluster of Kafka: {found.cluster}, not {wanted.cluster}.",
            place=storage.url,
            remedy="Its offsets are of other records: name a checkpoint of its own.",
        )
    if "lake" in differing and not any(entry.run == found.run for entry in read_ledger(lake)):
        raise LakeRefused(
            f"this lake has nothing of the run {found.run}, so it is not {found.lake} under another name.",
            place=storage.url,
            remedy="Name a checkpoint of its own.",
        )
    if "source" in differing and rebind is not None:
        rebind(found.source, stream)


def _differs(found: Identity, wanted: Identity, name: str) -> bool:
    theirs, ours = getattr(found, name), getattr(wanted, name)
    return bool(theirs and ours and theirs != ours)


def checkpoints_of(lake: Lake) -> Iterator[tuple[str, str]]:
    """The checkpoints in a lake, with the names of their sources."""
    for folder in lake.storage.folders(CHECKPOINTS):
        place = f"{CHECKPOINTS}/{folder}"
        with suppress(FileNotFoundError, msgspec.DecodeError):
            found = msgspec.json.decode(lake.storage.read(f"{place}/{FILE}"), type=Identity)
            yield f"{lake.url}/{place}", found.source
