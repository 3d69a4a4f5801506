from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from postroom.pipeline.sources.lag import Lag
from postroom.pipeline.sources.pending_files import PAUSE, Backlog, noted_files


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.jsonl").write_text("x" * 10**number)
    (folder / "notes.md").write_text("not a record file")
    return folder


def note(checkpoint: Path, name: str, *files: Path) -> None:
    """As Spark writes its notes."""
    log = checkpoint / "sources" / "0" / name
    log.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"path": f"file://{quote(str(file))}", "timestamp": 1, "batchId": 0}) for file in files]
    log.write_text("\n".join(["v1", *lines]))


def test_what_no_batch_has_taken_waits(inbox: Path, tmp_path: Path) -> None:
    backlog = Backlog(inbox)
    backlog.take([inbox / "0.jsonl", inbox / "2.jsonl"])
    backlog.look(tmp_path)
    assert backlog.lag == Lag(files=2, bytes=1010)


def test_what_a_batch_takes_waits_no_longer_even_if_nobody_looks(inbox: Path, tmp_path: Path) -> None:
    backlog = Backlog(inbox)
    backlog.take([])
    backlog.look(tmp_path)
    backlog.take([inbox / "3.jsonl"])
    assert backlog.lag == Lag(files=3, bytes=111)


def test_what_an_earlier_run_has_taken_does_not_wait(inbox: Path, tmp_path: Path) -> None:
    note(tmp_path / "checkpoint", "0", inbox / "0.jsonl", inbox / "3.jsonl")
    backlog = Backlog(inbox)
    backlog.take([inbox / "1.jsonl"])
    backlog.look(tmp_path / "checkpoint")
    assert backlog.lag == Lag(files=1, bytes=100)


def test_notes_of_all_before_stand_for_the_older_ones(tmp_path: Path) -> None:
    note(tmp_path, "8", Path("/in/gone.jsonl"))
    note(tmp_path, "9.compact", Path("/in/a b.jsonl"), Path("/in/ö.jsonl"))
    note(tmp_path, "10", Path("/in/c%20.jsonl"))
    (tmp_path / "sources" / "0" / ".11.crc").touch()
    assert set(noted_files(tmp_path)) == {"/in/a b.jsonl", "/in/ö.jsonl", "/in/c%20.jsonl"}


def test_nobody_looks_without_a_new_batch_nor_too_often(inbox: Path, tmp_path: Path) -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0  # a look takes a second
        return now[0]

    backlog = Backlog(inbox, clock)
    backlog.look(tmp_path)
    assert backlog.lag.files == 0, "no batch was taken yet"
    backlog.take([inbox / "0.jsonl"])
    backlog.look(tmp_path)
    assert backlog.lag.files == 3
    (inbox / "new.jsonl").touch()
    backlog.take([inbox / "1.jsonl"])
    backlog.look(tmp_path)
    assert backlog.lag.files == 2, "it is too early to see the new one"
    now[0] += PAUSE
    backlog.look(tmp_path)
    assert backlog.lag.files == 3


def test_files_that_are_gone_are_forgotten(inbox: Path, tmp_path: Path) -> None:
    backlog = Backlog(inbox, lambda: 0.0)
    backlog.take(inbox.glob("*.jsonl"))
    (inbox / "0.jsonl").unlink()
    backlog.look(tmp_path)
    (inbox / "0.jsonl").touch()
    backlog.take([])
    backlog.look(tmp_path)
    assert backlog.lag.files == 1
