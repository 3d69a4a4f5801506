from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from postroom.errors import LakeRefused
from postroom.pipeline.checkpoint import (
    Identity,
    checkpoints_of,
    default_checkpoint,
    look_at_checkpoint,
    open_checkpoint,
)
from postroom.pipeline.lake.lake import Lake, create_lake
from postroom.pipeline.sources.source import open_source


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


def same(other: str, stream: Path) -> None:
    assert other == "kafka://one:9092/orders"


def test_a_checkpoint_goes_on_under_other_names_when_told_so(lake: Lake, tmp_path: Path) -> None:
    place = tmp_path / "checkpoint"
    with open_checkpoint(place, lake, "kafka://one:9092/orders", "fleet.json", cluster="abc") as first:
        pass
    new = ("kafka://two:9092/orders,more", "moved/fleet.json")
    with (
        pytest.raises(LakeRefused, match="or, if it is the same under another name, say --rebind"),
        open_checkpoint(place, lake, *new),
    ):
        pass
    with look_at_checkpoint(place, lake, *new, rebind=same) as looked:
        assert looked is not None
    with open_checkpoint(place, lake, *new, cluster="abc", rebind=same) as again:
        assert again.run == first.run
    with open_checkpoint(place, lake, *new, cluster="abc") as later:
        assert later.run == first.run
    with (
        pytest.raises(LakeRefused, match="belongs to another source"),
        open_checkpoint(place, lake, "kafka://one:9092/orders", new[1]),
    ):
        pass


def test_a_checkpoint_does_not_go_on_with_another_cluster_or_lake(lake: Lake, tmp_path: Path) -> None:
    place, source = tmp_path / "checkpoint", "kafka://one:9092/orders"
    with open_checkpoint(place, lake, source):
        pass
    with open_checkpoint(place, lake, source, cluster="abc"):
        pass
    for rebind in (None, same):
        with (
            pytest.raises(LakeRefused, match="another cluster of Kafka: abc, not xyz"),
            open_checkpoint(place, lake, source, cluster="xyz", rebind=rebind),
        ):
            pass
    other = create_lake(tmp_path / "other")
    with (
        pytest.raises(LakeRefused, match="this lake has nothing of the run"),
        open_checkpoint(place, other, source, rebind=same),
    ):
        pass
    assert list(checkpoints_of(lake)) == []
    with open_checkpoint(default_checkpoint(lake, source), lake, source):
        pass
    assert list(checkpoints_of(lake)) == [(default_checkpoint(lake, source), source)]


def test_a_lake_that_moved_is_known_by_its_ledger(fleet: Any, sorted_lake: Lake, tmp_path: Path) -> None:
    place = tmp_path / "checkpoint"
    (tmp_path / "checkpoint").mkdir()
    identity = Identity("run1", sorted_lake.url, "kafka://one:9092/orders")
    (place / "postroom.json").write_bytes(msgspec.json.encode(identity))
    moved = create_lake(sorted_lake.root.rename(tmp_path / "moved"))
    with open_checkpoint(place, moved, identity.source, rebind=same) as again:
        assert again.run == "run1"


def test_files_of_another_place_are_other_files(tmp_path: Path) -> None:
    with pytest.raises(LakeRefused, match="does not know those in"):
        open_source(tmp_path).check_rebind("/inbox", tmp_path)


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
