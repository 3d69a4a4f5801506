import json
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.cli.main import execute


def test_into_a_store_and_out_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = f"sqlite:///{tmp_path / 'catalog.db'}"
    assert execute(["load", "demo/catalog", "--to", store]) == 0
    assert "16 messages" in capsys.readouterr().out
    assert execute(["load", "demo/catalog", "--to", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["loaded"]["messages"] == 16
    assert execute(["match", "--catalog", store, "--input", "demo/sample.jsonl"]) == 1
    assert capsys.readouterr().out.count('"landed"') == 10


def test_a_broken_source_leaves_the_target_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"messagegroups": {"g": {"messages": {"m": 5}}}}')
    database = tmp_path / "catalog.db"
    for sources in (["demo/catalog", str(tmp_path / "none.json")], ["demo/catalog", str(broken)][1:]):
        assert execute(["load", *sources, "--to", f"sqlite:///{database}"]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("postroom: ")
    assert execute(["match", "--catalog", f"sqlite:///{database}", "--input", "/dev/null"]) in (0, 2)


def test_a_store_that_somebody_writes_to_is_a_system_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    monkeypatch.setenv("POSTROOM_WRITE_WAIT_S", "0.2")
    with open_store(url) as store, store.write():
        assert execute(["load", "demo/catalog", "--to", url]) == 3
    assert "writing for 0.2 seconds" in capsys.readouterr().err
