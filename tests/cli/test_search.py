from __future__ import annotations

import json
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.cli.main import execute
from postroom.registry.operations import import_document
from tests.http.running_service import serving
from tests.registry.search.conftest import CANCELLED, CATALOG, ORDER_SCHEMA, PARCEL_SCHEMA, PLACED


@pytest.fixture
def database(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/registry.db"
    with open_store(url) as store, store.write() as tx:
        import_document(tx, CATALOG)
    return url


def test_a_table_shows_what_is_found_and_where(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["search", "order", "placed", "--catalog", database]) == 0
    printed = capsys.readouterr().out
    assert "Found: 2" in printed
    assert printed.index(PLACED) < printed.index(CANCELLED)
    assert "name: Order placed" in printed
    assert execute(["search", "email", "--catalog", database]) == 0
    assert "customer.email" in capsys.readouterr().out
    assert execute(["search", "", "--catalog", database, "--limit", "3"]) == 0
    assert "Found: 8, the best 3 are shown" in capsys.readouterr().out
    assert execute(["search", "nowhere", "--catalog", database]) == 1
    assert "Nothing is found." in capsys.readouterr().out


def test_a_store_a_file_and_a_service_find_the_same(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shop.xreg.json").write_text(json.dumps({"specversion": "1.0-rc4", **CATALOG}))
    questions = (
        ["order", "--kind", "messages", "--limit", "1"],
        ['"order placed"'],
        ["--fields", "--shared"],
        ["cust", "--fields"],
        ["nowhere"],
    )
    with serving(database) as (_, url):
        for question in questions:
            answers = [
                (execute(["search", *question, "--catalog", source, "--json"]), capsys.readouterr().out)
                for source in (database, url, str(tmp_path / "shop.xreg.json"))
            ]
            assert answers[0] == answers[1] == answers[2]
    found = json.loads(answers[0][1])
    assert found["hits"] == []


def test_the_fields_of_payloads_are_listed(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["search", "--fields", "--shared", "--catalog", database]) == 0
    printed = capsys.readouterr().out
    assert "double, string" in printed
    assert ORDER_SCHEMA in printed
    assert PARCEL_SCHEMA in printed
    assert execute(["search", "--fields", "--limit", "3", "--catalog", database]) == 0
    assert "more follow customer.email" in capsys.readouterr().out
    assert execute(["search", "nowhere", "--fields", "--catalog", database]) == 1


def test_bad_questions_are_refused_in_a_sentence(
    database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["search", "x" * 2000, "--catalog", database]) == 2
    assert "at most 1,000 are searched for" in capsys.readouterr().err
    assert execute(["search", "order", "--shared", "--catalog", database]) == 2
    assert execute(["search", "order", "--catalog", f"sqlite:///{tmp_path}/none.db"]) == 2
    assert "no such database" in capsys.readouterr().err
