from __future__ import annotations

from pathlib import Path

import pytest

from postroom.errors import MissingSystem
from postroom.pipeline.sources.kafka import CONNECTOR, NEEDED, parse_kafka
from postroom.pipeline.spark import jars
from postroom.pipeline.spark.jars import Libraries, find_jars

CLIENT = "org.apache.kafka:kafka-clients:3.9.2"
CHOICES = [Libraries(("depot:gate:2",)), Libraries(("depot:gate:1",))]


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of Ivy, which has only the second choice."""
    asked: list[str] = []

    def fetch(choice: Libraries, folder: Path) -> str:
        asked.append(choice.wanted[0])
        if choice.wanted[0].endswith(":2"):
            return "depot#gate;2: not found"
        folder.mkdir()
        (folder / "gate-1.jar").touch()
        return ""

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(jars, "_fetch", fetch)
    return asked


def test_the_first_choice_that_can_be_had_is_kept(fetched: list[str]) -> None:
    for _ in range(2):
        assert [path.name for path in find_jars(CHOICES)] == ["gate-1.jar"]
    assert fetched == ["depot:gate:2", "depot:gate:1"]


def test_without_a_network_it_says_what_to_put_where(fetched: list[str]) -> None:
    with pytest.raises(MissingSystem) as raised:
        find_jars(CHOICES[:1], [CLIENT])
    said = str(raised.value)
    assert "depot#gate;2: not found" in said
    assert f"put {CLIENT} into a folder, and name the folder in the setting `jars`" in said
    assert "\n" not in said


def test_a_folder_of_ones_own_is_taken_without_asking_anybody(fetched: list[str], tmp_path: Path) -> None:
    (tmp_path / "kafka-clients-3.9.9.jar").touch()
    assert find_jars(CHOICES, [CLIENT], str(tmp_path)) == [tmp_path / "kafka-clients-3.9.9.jar"]
    assert fetched == []


@pytest.mark.parametrize("name", ["kafka-clients-test-3.9.9.jar", "notes.txt"])
def test_a_folder_without_what_is_needed_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(MissingSystem, match=r"no kafka-clients-….jar in the folder that the setting `jars` names"):
        find_jars(CHOICES, [CLIENT], str(tmp_path))


def test_the_setting_names_the_folder_for_kafka(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for coordinate in NEEDED:
        _, artifact, version = coordinate.split(":")
        (tmp_path / f"{artifact}-{version}.jar").touch()
    monkeypatch.setenv("POSTROOM_JARS", str(tmp_path))
    given = parse_kafka("kafka://host/rides").configuration["spark.jars"].split(",")
    assert given == [path.as_uri() for path in sorted(tmp_path.iterdir())]


def test_the_guide_names_what_is_needed() -> None:
    guide = Path(__file__).parents[3] / "docs" / "how-to" / "sort.md"
    assert "\n".join(NEEDED) in guide.read_text()


def test_every_choice_of_the_connector_is_for_the_same_connector() -> None:
    assert {choice.wanted[0] for choice in CONNECTOR} == {NEEDED[0]}


@pytest.mark.parametrize("ivy_says", ["", "a word"])
def test_what_could_not_be_fetched_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ivy_says: str
) -> None:
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{ivy_says}'\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(jars, "find_java_home", lambda: home)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(MissingSystem, match=ivy_says or "Is there a network"):
        find_jars(CHOICES)
    assert [path.name for path in (tmp_path / "cache" / "postroom" / "jars").iterdir()] == [".lock"]
