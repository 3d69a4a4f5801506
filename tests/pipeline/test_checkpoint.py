from __future__ import annotations

from pathlib import Path

import pytest

from postroom.errors import LakeRefused
from postroom.pipeline.checkpoint import default_checkpoint, open_checkpoint
from postroom.pipeline.lake.lake import Lake, create_lake


def test_a_run_keeps_its_name(lake: Lake, tmp_path: Path) -> None:
    with open_checkpoint(tmp_path / "checkpoint", lake, "inbox") as first:
        assert not first.resumed
    with open_checkpoint(tmp_path / "checkpoint", lake, "inbox") as again:
        assert again.resumed
        assert again.run == first.run


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"source": "outbox"}, "belongs to another source: inbox, not outbox"),
        ({"catalog": "shop.json"}, "belongs to another catalog: fleet.json, not shop.json"),
        ({"lake": "other"}, "belongs to another lake: "),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(
    lake: Lake, tmp_path: Path, change: dict[str, str], sentence: str
) -> None:
    with open_checkpoint(tmp_path / "checkpoint", lake, "inbox", "fleet.json"):
        pass
    other = create_lake(tmp_path / change["lake"]) if "lake" in change else lake
    named = {"source": "inbox", "catalog": "fleet.json"} | {k: v for k, v in change.items() if k != "lake"}
    with (
        pytest.raises(LakeRefused, match=sentence),
        open_checkpoint(tmp_path / "checkpoint", other, **named),
    ):
        pass


def test_a_catalog_that_was_open_already_has_no_name_to_compare(lake: Lake, tmp_path: Path) -> None:
    with open_checkpoint(tmp_path / "checkpoint", lake, "inbox", "fleet.json") as first:
        pass
    with open_checkpoint(tmp_path / "checkpoint", lake, "inbox") as again:
        assert again.run == first.run


def test_one_process_at_a_time(lake: Lake, tmp_path: Path) -> None:
    with (
        open_checkpoint(tmp_path / "checkpoint", lake, "inbox"),
        pytest.raises(LakeRefused, match="another process"),
        open_checkpoint(tmp_path / "checkpoint", lake, "inbox"),
    ):
        pass


def test_folders_and_files_that_are_no_checkpoint_are_refused(lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    with (
        pytest.raises(LakeRefused, match="not empty and not a checkpoint"),
        open_checkpoint(tmp_path / "photos", lake, ""),
    ):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(LakeRefused, match="this is a file"), open_checkpoint(tmp_path / "file", lake, ""):
        pass
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "postroom.json").write_text("{")
    with pytest.raises(LakeRefused, match="cannot be read"), open_checkpoint(tmp_path / "broken", lake, ""):
        pass


def test_every_source_has_its_own_place_in_the_lake(lake: Lake) -> None:
    assert default_checkpoint(lake, "inbox") != default_checkpoint(lake, "outbox")
    assert Path(default_checkpoint(lake, "inbox")).is_relative_to(lake.root)


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        (["metadata", "offsets/.0.be733023.tmp", "sources/0/0"], False),
        (["metadata"], False),
        (["metadata", "offsets/0", "offsets/.1.be733023.tmp"], True),
        (["metadata", "commits/7"], True),
    ],
)
def test_a_first_batch_that_was_never_written_down_is_forgotten(
    lake: Lake, tmp_path: Path, files: list[str], kept: bool
) -> None:
    stream = tmp_path / "checkpoint" / "stream"
    with open_checkpoint(tmp_path / "checkpoint", lake, "inbox") as first:
        for name in files:
            (stream / name).parent.mkdir(parents=True, exist_ok=True)
            (stream / name).touch()
    with open_checkpoint(tmp_path / "checkpoint", lake, "inbox") as again:
        assert (again.run, stream.exists()) == (first.run, kept)
