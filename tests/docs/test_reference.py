"""A command, setting, error or reason that the reference does not know is a defect."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from postroom.cli.main import all_commands
from postroom.errors import PostroomError
from postroom.http.xregistry import configuration, entities
from postroom.messages.matching.explain import SENTENCES
from postroom.messages.matching.outcome import OUTCOMES
from postroom.protocols.protocol_table import PROTOCOLS
from postroom.registry.configuration.offered_capabilities import FLAGS
from postroom.registry.problems import PROBLEMS
from postroom.settings import FIELDS, variable
from tests.docs.sessions import ROOT

REFERENCE = ROOT / "docs" / "reference"


def _errors(kind: type[PostroomError] = PostroomError) -> Iterator[type[PostroomError]]:
    for derived in kind.__subclasses__():
        if derived.__module__ == "postroom.errors":
            yield derived
            yield from _errors(derived)


def test_generated_pages_are_up_to_date() -> None:
    checked = subprocess.run(
        [sys.executable, ROOT / "scripts" / "reference.py", "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("name", all_commands())
def test_every_command_has_a_section(name: str) -> None:
    assert f"\n## postroom {name}\n" in (REFERENCE / "commands.md").read_text()


@pytest.mark.parametrize("name", FIELDS)
def test_every_setting_has_a_section(name: str) -> None:
    page = (REFERENCE / "settings.md").read_text()
    assert f"\n## {name}\n" in page
    assert f"`{variable(name)}`" in page


@pytest.mark.parametrize("code", sorted({error.code for error in _errors() if "code" in vars(error)} | set(PROBLEMS)))
def test_every_error_code_is_listed(code: str) -> None:
    assert f"| `{code}` |" in (REFERENCE / "errors.md").read_text()


@pytest.mark.parametrize("code", SENTENCES)
def test_every_reason_code_is_listed(code: str) -> None:
    assert f"| `{code}` |" in (REFERENCE / "reason-codes.md").read_text()


@pytest.mark.parametrize("word", [*OUTCOMES, *(wire.name for wire in PROTOCOLS)])
def test_every_outcome_and_protocol_is_listed(word: str) -> None:
    assert f"| `{word}` |" in (REFERENCE / "records-and-outcomes.md").read_text()


@pytest.mark.parametrize("path", configuration.METHODS)
def test_every_fixed_path_of_the_service_is_listed_with_its_methods(path: str) -> None:
    methods = ", ".join(configuration.METHODS[path])
    parameter = {"lint": "xid", "search": "q", "fields": "q"}.get(path)
    shown = f"/-/{path}?{parameter}=…" if parameter else f"/{path}"
    assert f"| `{shown}` | {methods} |" in (REFERENCE / "http.md").read_text()


@pytest.mark.parametrize("kind", entities.METHODS)
def test_the_methods_of_every_kind_of_entity_are_listed(kind: str) -> None:
    path = {
        "registry": "/",
        "groups": "/GROUPS",
        "group": "/GROUPS/id",
        "resources": "/GROUPS/id/RESOURCES",
        "resource": "/GROUPS/id/RESOURCES/id",
        "meta": "/GROUPS/id/RESOURCES/id/meta",
        "versions": "/GROUPS/id/RESOURCES/id/versions",
        "version": "/GROUPS/id/RESOURCES/id/versions/id",
    }[kind]
    assert f"| `{path}` | {', '.join(entities.METHODS[kind])} |" in (REFERENCE / "http.md").read_text()


@pytest.mark.parametrize("flag", FLAGS)
def test_every_flag_of_the_service_is_listed(flag: str) -> None:
    assert f"| `{flag}` |" in (REFERENCE / "http.md").read_text()


def test_every_column_that_postroom_adds_is_listed() -> None:
    from postroom.pipeline.worker.table_layout import CONTROL, DEAD_LETTER_COLUMNS

    page = (REFERENCE / "lake-layout.md").read_text()
    missing = [column.name for column in (*CONTROL, *DEAD_LETTER_COLUMNS) if f"| `{column.name}` |" not in page]
    assert missing == []


def test_every_column_of_the_ledger_is_listed() -> None:
    from postroom.pipeline.lake.ledger import LedgerEntry

    page = (REFERENCE / "lake-layout.md").read_text()
    assert [name for name in LedgerEntry.__struct_fields__ if f"| `{name}` |" not in page] == []
