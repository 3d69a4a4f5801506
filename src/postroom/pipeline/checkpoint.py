"""A checkpoint: where a stream stands, which run it is, and for which lake, source and catalog."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import msgspec

from postroom.errors import FolderUnwritable, LakeRefused
from postroom.pipeline.lake.lake import Lake

CHECKPOINTS = "_checkpoints"
FILE = "postroom.json"
STREAM = "stream"


class Identity(msgspec.Struct, frozen=True):
    """What a checkpoint belongs to; `catalog` is empty where a program gave one that was open already."""

    run: str
    lake: str
    source: str
    catalog: str = ""


class Checkpoint(msgspec.Struct, frozen=True):
    """A checkpoint in use: the name of the run, and the folder in which Spark writes down what was read."""

    folder: Path
    run: str
    resumed: bool

    @property
    def stream(self) -> Path:
        """Spark's own part."""
        return self.folder / STREAM


@contextmanager
def open_checkpoint(folder: Path, lake: Lake, source: str, catalog: str = "") -> Iterator[Checkpoint]:
    """The checkpoint in a folder, made if it is not there; for one process at a time."""
    wanted = Identity(new_run(), str(lake.root), source, catalog)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("wb")
    except (FileExistsError, NotADirectoryError):
        raise LakeRefused("this is a file; a checkpoint is a folder.", place=str(folder)) from None
    except OSError as error:
        raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(folder)) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LakeRefused("another process is using this checkpoint.", place=str(folder)) from None
        found = _read(folder)
        if found is None:
            _write(folder, wanted)
        else:
            _compare(folder, found, wanted)
        _forget_false_start(folder / STREAM)
        yield Checkpoint(folder.absolute(), (found or wanted).run, found is not None)


def default_checkpoint(lake: Lake, source: str) -> Path:
    """Where the checkpoint of a source lies when nobody says."""
    return lake.root / CHECKPOINTS / hashlib.sha256(source.encode()).hexdigest()[:16]


def new_run() -> str:
    """The name of a new run."""
    return uuid4().hex[:12]


def _read(folder: Path) -> Identity | None:
    path = folder / FILE
    if path.exists():
        try:
            return msgspec.json.decode(path.read_bytes(), type=Identity)
        except msgspec.DecodeError as error:
            raise LakeRefused(f"this checkpoint cannot be read: {error}.", place=str(path)) from None
    if any(not name.name.startswith(".") for name in folder.iterdir()):
        raise LakeRefused(
            "this folder is not empty and not a checkpoint.", place=str(folder), remedy="Name a new or empty folder."
        )
    return None


def _write(folder: Path, identity: Identity) -> None:
    partial = folder / f".{FILE}.part"
    partial.write_bytes(msgspec.json.encode(identity))
    partial.replace(folder / FILE)


def _forget_false_start(stream: Path) -> None:
    """Remove what a process left that died while it wrote down its first batch: nothing was handed out yet, and Spark
    takes the unfinished file for somebody else's checkpoint, for ever.
    """
    begun = [path for name in ("offsets", "commits") for path in (stream / name).glob("[0-9]*")]
    if stream.is_dir() and not begun:
        shutil.rmtree(stream)


def _compare(folder: Path, found: Identity, wanted: Identity) -> None:
    for name in ("lake", "source", "catalog"):
        theirs, ours = getattr(found, name), getattr(wanted, name)
        if theirs and ours and theirs != ours:
            raise LakeRefused(
                f"this checkpoint belongs to another {name}: {theirs}, not {ours}.",
                place=str(folder),
                remedy="Name a checkpoint of its own.",
            )
