from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from postroom.cli.main import execute
from tests.replication.catalogs import Kitchen, served

NO_ROOM = "a message catalog has message groups only."


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kitchen = Kitchen(tmp_path, "there")
    kitchen.put("/messagegroups/ovens", {"name": "Ovens", "envelope": "CloudEvents/1.0"})
    kitchen.bake("bread.baked", envelopemetadata={"type": {"value": "bread.baked"}})
    for group in ("loaves", "rolls"):
        kitchen.shape("1", group=group)
    with served(kitchen) as url:
        yield url


@pytest.fixture
def target(tmp_path: Path) -> Iterator[str]:
    with served(Kitchen(tmp_path, "here")) as url:
        yield url


def test_a_push_without_news_says_so(source: str, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["replicate", "push", source, target, "--once"]) == 0
    capsys.readouterr()
    assert execute(["replicate", "push", source, target, "--once"]) == 0
    assert capsys.readouterr().out == "took 0, deleted 0, 2 requests\n"
    assert execute(["replicate", "push", source, target, "--once", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["taken"] == []


def test_a_reason_that_many_have_is_said_once(source: str, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    catalog = f"{target}/messagecatalog"
    assert execute(["replicate", "push", source, catalog, "--once"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == [f"  /schemagroups/loaves, /schemagroups/loaves/schemas/loaf and 2 more: {NO_ROOM}"]
    assert execute(["replicate", "status", source, catalog]) == 0
    assert capsys.readouterr().out.count(NO_ROOM) == 1
    assert execute(["replicate", "status", source, catalog, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["refused"]) == 4


def test_groups_that_cannot_be_compared_by_digest_are_not_said_to_differ(
    source: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = [source, f"{target}/messagecatalog", "--only", "/messagegroups/ovens"]
    assert execute(["replicate", "push", *ends, "--once"]) == 0
    assert execute(["replicate", "status", *ends, "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["differing"], found["uncompared"]) == ([], ["/messagegroups/ovens"])
    assert execute(["replicate", "status", *ends]) == 0
    printed = capsys.readouterr().out
    assert "groups that differ" not in printed
    assert "unknown  1 group has no digest; postroom replicate verify compares it\n" in printed


@pytest.mark.audit("services-C1")
def test_a_group_that_a_message_catalog_pulled_itself_is_no_collision(
    source: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    only = ["--only", "/messagegroups/ovens"]
    assert execute(["replicate", "pull", source, target, *only]) == 0
    ends = [source, f"{target}/messagecatalog", *only]
    capsys.readouterr()
    assert execute(["replicate", "push", *ends, "--once"]) == 0
    assert "collision" not in capsys.readouterr().err
    assert execute(["replicate", "verify", *ends]) == 0


def test_a_link_to_a_host_that_is_not_allowed_is_refused_in_one_sentence_and_a_remedy(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["links", "add", "partner", "http://partner.example", "--at", target]) == 3
    said = capsys.readouterr().err.strip()
    assert said.endswith(
        "/replication/links/partner: partner.example is no host that links may reach. "
        "The setting link_hosts names the hosts that links may reach."
    ), said
