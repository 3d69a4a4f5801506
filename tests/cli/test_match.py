import json
import os
from pathlib import Path

import pytest

from postroom.cli.main import execute
from postroom.cli.match import lines_of

SAMPLE = ["match", "--catalog", "demo/catalog", "--input", "demo/sample.jsonl"]


def test_one_line_of_json_per_message_and_exit_code_1_when_some_did_not_land(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert execute(SAMPLE) == 1
    matches = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(matches) == 12
    assert all(set(match) == {"outcome", "message", "variables", "candidates", "reasons"} for match in matches)
    assert {match["outcome"] for match in matches} == {"landed", "invalid", "unmatched"}


def test_exit_code_0_when_all_landed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["make", "--catalog", "demo/catalog", "station.offline", "--set", "depot=oslo", "--set", "station=S1"]
    assert execute([*arguments, "--data", "auto", "--count", "5"]) == 0
    records = tmp_path / "records.jsonl"
    records.write_text(capsys.readouterr().out)
    assert execute(["match", "--catalog", "demo/catalog", "--input", str(records)]) == 0


def test_explaining_and_counting(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*SAMPLE, "--explain"]) == 1
    assert "/envelopemetadata/source is missing" in capsys.readouterr().out
    assert execute([*SAMPLE, "--summary"]) == 1
    assert "unmatched" in capsys.readouterr().out


def test_the_endpoint_narrows_the_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*SAMPLE, "--endpoint", "/endpoints/stations.mqtt"]) == 1
    landed = [line for line in capsys.readouterr().out.splitlines() if '"landed"' in line]
    assert len(landed) == 2
    assert execute([*SAMPLE, "--endpoint", "none"]) == 2


def test_lines_are_taken_as_they_come() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sender:
        lines = lines_of(source)
        sender.write(b"one\ntwo\n\nthr")
        assert next(lines) == [b"one", b"two"]
        sender.write(b"e")
        sender.write(b"e\r\n \nfour")
        sender.close()
        assert [line for some in lines for line in some] == [b"three\r", b"four"]


def test_a_line_may_be_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    file = tmp_path / "long"
    file.write_bytes(b"x" * 3_000_000 + b"\n" + b"y" * 1_200_000)
    with file.open("rb") as source:
        assert [len(line) for some in lines_of(source) for line in some] == [3_000_000, 1_200_000]
