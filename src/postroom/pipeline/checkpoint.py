"""A checkpoint: the name of a run and what each of its batches reads, written down before the batch begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

import msgspec

from postroom.errors import FolderUnwritable, LakeRefused
from postroom.pipeline.sources import Range


class Plan(msgspec.Struct, frozen=True):
    """What one batch reads, and by which catalog."""

    batch: int
    catalog: str
    ranges: tuple[Range, ...]


class Checkpoint:
    """A folder that makes a run restartable and keeps it from sorting a file twice."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.run = self._run()
        except FileExistsError:
            raise LakeRefused("this is a file; a checkpoint is a folder.", place=str(folder)) from None
        except OSError as error:
            raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(folder)) from None
        self.plans = self._read_plans()

    def new_files(self, files: Iterable[Path]) -> list[Path]:
        """The files that no batch has read yet."""
        known = {part.path for plan in self.plans for part in plan.ranges}
        return [file for file in files if str(file) not in known]

    def add(self, catalog: str, ranges: Iterable[Range]) -> Plan:
        """Write down the next batch."""
        plan = Plan(len(self.plans), catalog, tuple(ranges))
        _write(self._folder / f"batch-{plan.batch:08d}.json", msgspec.json.encode(plan))
        self.plans.append(plan)
        return plan

    def _run(self) -> str:
        path = self._folder / "run"
        if not path.exists():
            _write(path, new_run().encode())
        return path.read_text().strip()

    def _read_plans(self) -> list[Plan]:
        files = sorted(self._folder.glob("batch-*.json"))
        try:
            return [msgspec.json.decode(file.read_bytes(), type=Plan) for file in files]
        except msgspec.DecodeError as error:
            raise LakeRefused(f"this checkpoint cannot be read: {error}.", place=str(self._folder)) from None


def new_run() -> str:
    """The name of a new run."""
    return uuid4().hex[:12]


def _write(path: Path, data: bytes) -> None:
    partial = path.with_name(f".{path.name}.part")
    partial.write_bytes(data)
    partial.replace(path)
