from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from postroom.errors import FileMissing
from postroom.pipeline.sources.files import FileSource
from postroom.pipeline.sources.lag import Lag, Reached
from postroom.pipeline.sources.source import open_source


def test_a_followed_folder_may_be_empty_yet(tmp_path: Path) -> None:
    source = open_source(tmp_path)
    source.check(follow=True)
    with pytest.raises(FileMissing, match="no record files"):
        source.check(follow=False)
    with pytest.raises(FileMissing, match="no such file"):
        open_source(tmp_path / "nowhere").check(follow=True)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_lag_is_what_waits_and_what_is_left_of_the_batch_at_work(spark: Any, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    for number in range(3):
        (inbox / f"{number}.jsonl").write_text("x" * 100)
    source = FileSource(inbox)
    rows = [(f"file:{inbox / name}",) for name in ("0.jsonl", "1.jsonl")]
    source.batch(spark.createDataFrame(rows, "path string"))
    told = [source.lag(Reached(checkpoint=tmp_path, share=share))["inbox"] for share in (0.0, 0.5, 0.9, 1.0)]
    assert told == [Lag(files=3, bytes=300), Lag(files=2, bytes=200), Lag(files=2, bytes=120), Lag(files=1, bytes=100)]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_lag_of_a_single_run_is_what_is_left_of_it(spark: Any, tmp_path: Path) -> None:
    file = tmp_path / "orders.jsonl"
    file.write_text("x" * 100)
    source = FileSource(file)
    assert source.lag(Reached()) == {"orders.jsonl": Lag()}
    source.records(spark)
    assert source.lag(Reached(share=0.25)) == {"orders.jsonl": Lag(files=1, bytes=75)}
