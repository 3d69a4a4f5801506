import json
from pathlib import Path

import pytest

from postroom.cli.main import execute
from tests.documents.lint.catalogs import CLEAN, MOVED, Tree, with_attribute


def written(folder: Path, tree: Tree, name: str = "catalog.json") -> str:
    path = folder / name
    path.write_text(json.dumps(tree))
    return str(path)


def test_a_clean_catalog_gives_nothing_and_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["lint", written(tmp_path, CLEAN)]) == 0
    assert capsys.readouterr().out == "Nothing to say.\n"
    assert execute(["lint", "--json", written(tmp_path, CLEAN)]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_errors_give_exit_code_1_and_a_place_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, with_attribute("id", {"required": False}))
    assert execute(["lint", file]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[0] == file
    assert f"error    {MOVED}/envelopemetadata/id/required" in out
    assert "required_attribute_optional: every CloudEvent has id" in out
    assert out.endswith("1 error, no warnings and no notes in 1 file.\n")


def test_warnings_count_only_when_strict(tmp_path: Path) -> None:
    file = written(tmp_path, with_attribute("id", {"value": "1"}))
    assert execute(["lint", file]) == 0
    assert execute(["lint", "--strict", file]) == 1


def test_notes_never_count(tmp_path: Path) -> None:
    assert execute(["lint", "--strict", written(tmp_path, with_attribute("type", {"value": "car.moved"}))]) == 0


def test_json_has_every_member_of_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, with_attribute("id", {"value": "1"}))
    assert execute(["lint", "--json", file]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "file": file,
            "pointer": f"{MOVED}/envelopemetadata/id/value",
            "severity": "warning",
            "code": "id_fixed",
            "sentence": "every event has its own id, and this definition prescribes one.",
            "remedy": "Leave the value out.",
        }
    ]


def test_what_cannot_be_read_gives_2_and_does_not_hide_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, with_attribute("id", {"required": False}))
    assert execute(["lint", str(tmp_path / "gone.json"), file]) == 2
    told = capsys.readouterr()
    assert "there is no such file" in told.err
    assert "required_attribute_optional" in told.out


def test_many_findings_of_a_kind_are_cut_for_people_and_not_for_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = CLEAN["messagegroups"]["fleet"]["messages"]["vehicle.moved"]
    messages = {f"vehicle.moved{number}": {**message, "basemessageuri": "https://a.example"} for number in range(9)}
    file = written(tmp_path, {**CLEAN, "messagegroups": {"fleet": {"messages": messages}}})
    execute(["lint", file])
    assert "and 4 more base_name_variant (--json lists all)" in capsys.readouterr().out
    execute(["lint", "--json", file])
    assert capsys.readouterr().out.count('"base_name_variant"') == 9


def test_the_demo_catalog_has_neither_errors_nor_warnings() -> None:
    assert execute(["lint", "--strict", "demo/catalog"]) == 0


def test_a_store_can_be_linted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = f"sqlite:///{tmp_path / 'registry.db'}"
    assert execute(["load", written(tmp_path, with_attribute("id", {"value": "1"})), "--to", store]) == 0
    capsys.readouterr()
    assert execute(["lint", "--strict", store]) == 1
    assert f"{MOVED}/envelopemetadata/id/value" in capsys.readouterr().out
