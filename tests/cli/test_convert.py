import json
from pathlib import Path

import pytest

from postroom.cli.main import execute

CEREG = {
    "specversion": "0.5-wip",
    "definitionGroups": {
        "ovens": {
            "id": "ovens",
            "createdBy": "baker",
            "format": "CloudEvents/1.0",
            "definitions": {
                "hot": {
                    "id": "hot",
                    "format": "CloudEvents/1.0",
                    "metadata": {"attributes": {"type": {"value": "oven.hot"}, "time": {"type": "datetime"}}},
                }
            },
        }
    },
}


@pytest.fixture
def cereg(tmp_path: Path) -> Path:
    path = tmp_path / "ovens.cereg"
    path.write_text(json.dumps(CEREG))
    return path


def test_there_and_back_again(cereg: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    modern, back = tmp_path / "ovens.xreg.yaml", tmp_path / "back.cereg"
    assert execute(["convert", str(cereg), "--dialect", "1.0-rc4", "-o", str(modern)]) == 0
    assert "envelopemetadata:" in modern.read_text()
    assert execute(["convert", str(modern), "--dialect", "0.5-service", "-o", str(back)]) == 0
    assert {name: value for name, value in json.loads(back.read_text()).items() if name in CEREG} == CEREG
    assert capsys.readouterr().err == ""


def test_losses_go_to_stderr_and_into_json(cereg: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["convert", str(cereg), "--dialect", "catalog"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["messagecatalog"]["ovens"]["format"] == "CloudEvents"
    assert "catalog cannot carry 1 member" in shown.err
    assert execute(["convert", str(cereg), "--dialect", "catalog", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["from"] == "0.5-service"
    assert [loss["place"] for loss in report["losses"]] == [
        "/messagegroups/ovens/messages/hot/envelopemetadata/time/type"
    ]


def test_an_unknown_dialect_writes_nothing(cereg: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "none.json"
    assert execute(["convert", str(cereg), "--dialect", "0.9", "-o", str(output)]) == 2
    assert "does not write 0.9. It writes 1.0-rc4," in capsys.readouterr().err
    assert not output.exists()


def test_a_folder_that_is_not_there_is_said_in_a_sentence(cereg: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["convert", str(cereg), "--dialect", "1.0-rc4", "-o", str(cereg.parent / "no" / "x.json")]) == 3
    assert "cannot be written" in capsys.readouterr().err
