"""The example in the help of each command works as printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from postroom.cli.command import ExampleCommand
from postroom.cli.main import all_commands
from tests.docs.sessions import Shell, Step, all_pages, read_fences

COMMANDS = all_commands()
# `match` says no when not every message landed, and the sample holds some that do not; the schemas do not go together.
NEGATIVE = {"match": 1, "schema compat": 1}
OF_LAKES = (
    "sort",
    "tables",
    "views",
    "ledger",
    "dead",
    "replay",
    "backfill",
    "reprocess",
    "impact",
    "erase",
    "tidy",
    "sql",
    "metrics",
)
# A lake takes Spark some seconds to make, and a schema registry has to run: a page shows these examples, and runs them.
SHOWN = (*OF_LAKES, "import confluent")
PLAIN = [name for name in COMMANDS if name not in SHOWN]
IN_SESSIONS = [name for name in COMMANDS if name not in PLAIN]


def _example(name: str) -> str:
    command = COMMANDS[name]
    assert isinstance(command, ExampleCommand)
    return command.example


def _step(name: str) -> Step:
    if name == "serve":
        return Step(f"{_example(name)} &", "…listening on http…")
    return Step(_example(name), "…", NEGATIVE.get(name, 0))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    assert f"postroom {name}" in _example(name)


@pytest.mark.parametrize("name", PLAIN)
def test_the_example_works_as_printed(name: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "work")
    try:
        ran = shell.run(_step(name))
    finally:
        shell.close()
    assert not ran.complaint, ran.output


@pytest.mark.parametrize("name", IN_SESSIONS)
def test_the_example_is_part_of_a_session(name: str) -> None:
    fences = [fence for page in all_pages() for fence in read_fences(page.read_text())]
    commands = [action.command for fence in fences for action in fence.actions if isinstance(action, Step)]
    assert _example(name) in commands
