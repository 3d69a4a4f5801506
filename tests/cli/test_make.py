import json
from pathlib import Path

import pytest

from postroom.cli.main import execute

POSITION = [
    "make",
    "--catalog",
    "demo/catalog",
    "vehicle.telemetry.position",
    "--set",
    "vin=HM1",
    "--set",
    "depot=oslo",
]


def test_data_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data.json"
    data.write_text('{"latitude": 1, "longitude": 2, "speed_kmh": 3}')
    assert execute([*POSITION, "--data", str(data)]) == 0
    assert json.loads(capsys.readouterr().out)["payload"] == data.read_text()
    data.write_text('{"latitude": 100}')
    assert execute([*POSITION, "--data", str(data)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "does not fit" in captured.err


def test_the_same_seed_invents_the_same_data(capsys: pytest.CaptureFixture[str]) -> None:
    payloads = []
    for _ in range(2):
        assert execute([*POSITION, "--data", "auto", "--seed", "7", "--count", "3"]) == 0
        payloads.append([json.loads(line)["payload"] for line in capsys.readouterr().out.splitlines()])
    assert payloads[0] == payloads[1]
    assert len(set(payloads[0])) == 3


def test_invalid_says_which_rule_it_breaks(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*POSITION, "--data", "auto", "--invalid", "--count", "4"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 4
    assert captured.err.count("broken: ") == 4


def test_a_definition_that_needs_data_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(POSITION) == 2
    assert "needs data. Give some, or `auto`" in capsys.readouterr().err
