"""Where a lake, a checkpoint and a source may lie: on this machine, however that is written, or in an object store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.cli.main import execute
from postroom.errors import LakeRefused, SourceUnknown
from postroom.pipeline import replay, sort, sorter
from postroom.pipeline.lake.lake import create_lake, open_lake
from postroom.pipeline.local_paths import local_path
from postroom.pipeline.sources.source import open_source

ELSEWHERE = [
    "S3:/bucket/x",
    "s3:bucket",
    "s3://",
    "dbfs:/x",
    "dbfs:x",
    "hdfs://namenode/x",
    "hdfs:///x",
    "wasbs:x",
    "viewfs:/x",
    "az:x",
    "https://host/x",
    "ftp://host/x",
    "jdbc:sqlite:x",
    "file://host/x",
    "file:x",
    "file:",
]
HERE = {
    "lake": "{cwd}/lake",
    "./dbfs:/x": "{cwd}/dbfs:/x",
    "/var/lake:2": "/var/lake:2",
    "2026-11-16T10:30/x": "{cwd}/2026-11-16T10:30/x",
    "file:/var/lake": "/var/lake",
    "file:///var/a%20lake": "/var/a lake",
    "FILE://localhost/var/lake": "/var/lake",
}


@pytest.fixture(autouse=True)
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cwd"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("place", ELSEWHERE)
def test_other_storage_is_refused_and_becomes_no_folder(place: str, catalog: Catalog, records: Path, cwd: Path) -> None:
    spark: Any = None  # nobody comes as far as that
    for take in (create_lake, open_lake, lambda lake: sorter(catalog, lake), lambda lake: replay(None, catalog, lake)):
        with pytest.raises(LakeRefused, match="a lake "):
            take(place)
    with pytest.raises(LakeRefused, match="a checkpoint "):
        sort(spark, records, catalog, "lake", checkpoint=place)
    with pytest.raises((LakeRefused, SourceUnknown)):
        open_source(place)
    if not place.startswith("file:"):  # of which Path makes another one
        with pytest.raises(LakeRefused):
            create_lake(Path(place))
    assert list(cwd.iterdir()) == []


@pytest.mark.parametrize("place", ["hdfs://bucket/x", "dbfs:/x"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["sort", "--catalog", "CATALOG", "--source", "RECORDS", "--lake", "PLACE"],
        ["sort", "--catalog", "CATALOG", "--source", "RECORDS", "--lake", "lake", "--checkpoint", "PLACE"],
        ["sort", "--catalog", "CATALOG", "--source", "PLACE", "--lake", "lake"],
        ["replay", "--catalog", "CATALOG", "--lake", "PLACE"],
        ["tables", "--lake", "PLACE"],
        ["dead", "--lake", "PLACE"],
        ["sql", "--lake", "PLACE", "SELECT 1"],
        ["metrics", "--lake", "PLACE"],
    ],
)
def test_every_command_refuses_other_storage(
    arguments: list[str], place: str, catalog_file: Path, records: Path, cwd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"CATALOG": str(catalog_file), "RECORDS": str(records), "PLACE": place}
    assert execute([words.get(argument, argument) for argument in arguments]) == 2
    output = capsys.readouterr()
    assert output.err.startswith(f"postroom: {place}: ")
    assert len(output.err.splitlines()) == 1
    assert list(cwd.iterdir()) == []


@pytest.mark.parametrize(("written", "meant"), HERE.items())
def test_a_path_is_taken_as_it_is_written(written: str, meant: str, cwd: Path) -> None:
    assert local_path(written, "a lake") == Path(meant.format(cwd=cwd))


def test_a_checkpoint_knows_its_source_as_it_was_spelled(cwd: Path) -> None:
    """Checkpoints of earlier versions say it so: another name would be refused, or sorted from the beginning."""
    (cwd / "inbox").mkdir()
    (cwd / "link").symlink_to("inbox")
    assert [open_source(name).name for name in ("link", "./link", "a/../link")] == [
        f"{cwd}/link",
        f"{cwd}/link",
        f"{cwd}/a/../link",
    ]
    assert open_source("kafka://b:9092,a/orders,returns?x.y=1").name == "kafka://b:9092,a:9092/orders,returns"


def test_a_file_with_a_colon_in_its_name_is_a_file(cwd: Path) -> None:
    (cwd / "export-10:30.jsonl").touch()
    assert open_source("export-10:30.jsonl").name == str(cwd / "export-10:30.jsonl")
    assert open_source((cwd / "export-10:30.jsonl").as_uri()).name == str(cwd / "export-10:30.jsonl")
