import json
from pathlib import Path
from typing import Any

import pytest

from postroom.cli.main import execute


def catalog(type_value: str = "oven.hot", **more: Any) -> dict[str, Any]:
    message = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": type_value}, "subject": {"required": True}, **more.pop("metadata", {})},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschemauri": "/schemagroups/s/schemas/heat",
        **more.pop("message", {}),
    }
    schema = more.pop("schema", {"type": "object", "properties": {"degrees": {"type": "integer"}}})
    return {
        "messagegroups": {"ovens": {"messages": {"hot": message, **more.pop("messages", {})}}},
        "schemagroups": {"s": {"schemas": {"heat": {"format": "JsonSchema/draft-07", "schema": schema}}}},
    }


@pytest.mark.parametrize(
    ("new", "kinds", "code"),
    [
        (catalog(), [], 0),
        (catalog(message={"description": "Hot!"}), ["editorial"], 0),
        (catalog(messages={"cold": {"envelope": "CloudEvents/1.0"}}), ["compatible"], 0),
        (catalog("oven.HOT"), ["breaking for both"], 1),
        (catalog(metadata={"oven": {}}), ["compatible"], 0),
        (catalog(metadata={"oven": {"required": True}}), ["breaking for producers"], 1),
        (catalog(metadata={"subject": {}}), ["breaking for consumers"], 1),
        (catalog(metadata={"subject": {"required": True, "type": "uri"}}), ["breaking for producers"], 1),
        (catalog(metadata={"subject": {"required": True, "type": "integer"}}), ["breaking for both"], 1),
        (
            catalog(schema={"type": "object", "properties": {"degrees": {"type": "number"}}}),
            ["breaking for consumers"],
            1,
        ),
        (catalog(message={"protocol": "KAFKA"}), ["breaking for both"], 1),
    ],
)
def test_changes_and_whom_they_break(
    new: Any, kinds: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, document in (("old", catalog()), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    assert execute(["diff", str(tmp_path / "old.json"), str(tmp_path / "new.json"), "--json"]) == code
    assert [change["kind"] for change in json.loads(capsys.readouterr().out)] == kinds


def test_a_removed_message_breaks_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.json").write_text(json.dumps(catalog(messages={"cold": {}})))
    (tmp_path / "new.json").write_text(json.dumps(catalog()))
    assert execute(["diff", str(tmp_path / "old.json"), str(tmp_path / "new.json")]) == 1
    assert "breaking for both: /messagegroups/ovens/messages/cold removed" in capsys.readouterr().out


def test_the_same_catalog_in_two_dialects_is_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "old.json"
    assert execute(["convert", "demo/catalog", "--dialect", "1.0-rc2", "-o", str(old)]) == 0
    capsys.readouterr()
    assert execute(["diff", str(old), "demo/catalog"]) == 0


def test_a_catalog_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none.json").write_text("{}")
    assert execute(["diff", str(tmp_path / "none.json"), "demo/catalog"]) == 2
    assert "this is no catalog" in capsys.readouterr().err
