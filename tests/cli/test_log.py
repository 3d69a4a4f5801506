from __future__ import annotations

import json
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.cli.main import execute
from postroom.registry.operations import import_document
from tests.http.running_service import serving

HEATED = "/messagegroups/ovens/messages/heated"


@pytest.fixture
def database(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/registry.db"
    with open_store(url) as store:
        for name in ("one", "two", "three"):
            message = {"name": name, "meta": {"deprecated": {}} if name == "two" else {}}
            with store.write() as tx:
                import_document(tx, {"messagegroups": {"ovens": {"messages": {"heated": message}}}}, actor="baker")
    return url


def test_a_table_tells_who_changed_what(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["log", HEATED, "--catalog", database]) == 0
    printed = capsys.readouterr().out
    assert 'name: "one" → "two"' in printed
    assert "meta.deprecated: {}" in printed
    assert "meta.deprecated: {} → gone" in printed
    assert "baker" in printed
    assert "deprecation" not in printed
    assert "epoch" not in printed


def test_json_has_everything_and_a_service_tells_the_same(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["log", HEATED, "--catalog", database, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["values"]["name"] for one in told if "name" in one.get("values", {})] == [
        {"new": "one"},
        {"old": "one", "new": "two"},
        {"old": "two", "new": "three"},
    ]
    with serving(database) as (_, url):
        assert execute(["log", HEATED, "--catalog", url, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == told
        assert execute(["log", "/messagegroups/nobody", "--catalog", url]) == 1
        capsys.readouterr()
        assert execute(["log", HEATED, "--catalog", f"{url}/nowhere"]) == 3
    assert execute(["log", HEATED, "--catalog", url]) == 3
    assert "does not answer" in capsys.readouterr().err


def test_only_the_newest_when_there_are_many(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["log", "/", "--catalog", database, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert execute(["log", "/", "--catalog", database, "--json", "--last", "2"]) == 0
    assert json.loads(capsys.readouterr().out) == whole[-2:]


@pytest.mark.parametrize(
    ("xid", "source", "code", "words"),
    [
        ("/messagegroups/nobody", "", 1, "Nothing is logged of /messagegroups/nobody."),
        ("ovens", "", 2, "ovens is not a legal xid"),
        ("/a//b", "", 2, "not a legal xid"),
        (HEATED, "demo/catalog", 2, "only a store or a service has a log"),
        (HEATED, "sqlite:///nowhere.db", 2, "there is no such database"),
    ],
)
def test_bad_questions(
    database: str, xid: str, source: str, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["log", xid, "--catalog", source or database]) == code
    captured = capsys.readouterr()
    assert words in captured.out + captured.err
    assert "Traceback" not in captured.err
