"""The file of grants: checked at the start, and read again when it changes."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from postroom.access.access_file import LONGEST, AccessFile
from postroom.access.grants import Grant
from postroom.errors import AccessRefused

GOOD = """
grants:
  - {subject: "key:fleet-ci", role: write, prefix: /messagegroups/fleet.*}
  - {subject: anonymous, role: read, prefix: /}
"""


@pytest.fixture(autouse=True)
def _looks_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.access.access_file.LOOK_SECONDS", 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "access.yaml"
    made.write_text(GOOD)
    return made


def test_a_file_gives_grants(path: Path) -> None:
    assert AccessFile(str(path)).grants == [
        Grant("anonymous", "read", "/"),
        Grant("key:fleet-ci", "write", "/messagegroups/fleet.*"),
    ]


BROKEN = [
    ("", "no file of grants"),
    ("[]", "no file of grants"),
    ("grants: []\nmore: 1", "no file of grants"),
    ("grants: {a: b}", "no grants"),
    ("grants: [{subject: anna, role: read, prefix: /}]", "no subject"),
    ("grants: [", "not YAML"),
    ("grants: !!python/object:os.system []", "not YAML"),
    ("#" * (LONGEST + 1), "no file of grants"),
]


@pytest.mark.parametrize(("text", "reason"), BROKEN)
def test_a_broken_file_at_the_start_is_an_error_with_its_name(path: Path, text: str, reason: str) -> None:
    path.write_text(text)
    with pytest.raises(AccessRefused, match=reason) as refused:
        AccessFile(str(path))
    assert refused.value.place == str(path)


def test_a_missing_file_at_the_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AccessRefused, match="cannot be read"):
        AccessFile(str(tmp_path / "none.yaml"))


def test_a_changed_file_is_read_again(path: Path) -> None:
    file = AccessFile(str(path))
    assert not file.changed()
    path.write_text("grants: []")
    assert file.changed()
    assert file.grants == []
    assert not file.changed()


@pytest.mark.parametrize("text", [text for text, _ in BROKEN])
def test_a_file_that_breaks_later_leaves_the_grants_and_says_so_once(
    path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = AccessFile(str(path))
    before = file.grants
    path.write_text(text)
    logging.getLogger("postroom").propagate = True
    with caplog.at_level(logging.ERROR):
        assert not file.changed()
        assert not file.changed()
    assert file.grants == before
    assert len([one for one in caplog.records if "stay in force" in one.message]) == 1


def test_a_file_that_is_gone_leaves_the_grants(path: Path) -> None:
    file = AccessFile(str(path))
    path.unlink()
    assert not file.changed()
    assert len(file.grants) == 2
    path.write_text("grants: []")
    assert file.changed()
