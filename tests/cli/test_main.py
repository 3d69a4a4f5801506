import importlib
import subprocess
import sys

import click
import pytest

from postroom.cli.command import ExampleCommand
from postroom.cli.main import COMMANDS, all_commands, execute, main
from postroom.version import VERSION


def test_help_lists_every_command_with_its_first_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, summary in COMMANDS.items():
        assert f"  {name} " in shown
        assert summary in shown


def test_no_arguments_print_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([]) == 0
    assert "Usage: postroom" in capsys.readouterr().out


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--version"]) == 0
    assert capsys.readouterr().out == f"postroom {VERSION}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_with_its_summary(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert (command.help or "").startswith(COMMANDS[name].rstrip("."))


@pytest.mark.parametrize("name", all_commands())
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = all_commands()[name]
    assert isinstance(command, ExampleCommand)
    assert execute([*name.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert command.example in shown.replace("\n  ", "\n")
    assert "-q" in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sotr"], "there is no command 'sotr'. Did you mean 'sort'?"),
        (["xyzzy"], "there is no command 'xyzzy'. `postroom --help` lists the commands."),
        (["settings", "--nope"], "No such option"),
        (["match"], "Missing option '--catalog'"),
        (
            ["match", "--catalog", "nowhere.json", "--input", "/dev/null"],
            "nowhere.json: there is no such file or folder.",
        ),
        (["match", "--catalog", "demo/catalog", "--input", "nothing.jsonl"], "nothing.jsonl"),
        (["make", "--catalog", "demo/catalog", "order.placed", "--set", "x"], "--set takes NAME=VALUE"),
        (["make", "--catalog", "demo/catalog", "order.placed", "--data", "none.json"], "none.json: cannot be read"),
        (["load", "demo/catalog", "--to", "somewhere"], "nothing can be loaded there"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("postroom: ")
    assert captured.err.count("\n") == 1
    assert says in captured.err


def test_a_bad_setting_is_one_sentence_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("POSTROOM_PORT", "many")
    assert execute(["settings"]) == 2
    assert capsys.readouterr().err.startswith("postroom: POSTROOM_PORT: 'many' does not fit")


def test_debug_shows_the_traceback() -> None:
    command = [sys.executable, "-m", "postroom", "match", "--catalog", "nowhere.json"]
    run = subprocess.run(command, env={"POSTROOM_DEBUG": "1"}, capture_output=True, text=True, check=False, input="")
    assert "Traceback" in run.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = f"{sys.executable} -m postroom match --catalog demo/catalog --input demo/sample.jsonl | head -1"
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.count("\n") == 1
    assert run.stderr == ""


def test_help_imports_nothing_heavy() -> None:
    check = (
        "import sys; from postroom.cli.main import execute; execute(['--help']); "
        "print([m for m in ('pyspark', 'pyarrow', 'deltalake', 'duckdb', 'uvicorn', 'httpx', 'sqlite3', "
        "'jsonschema_rs', 'yaml', 'asyncio') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_every_module_of_a_command_is_named_after_it() -> None:
    for name in COMMANDS:
        module = name.replace("-", "_")
        assert importlib.import_module(f"postroom.cli.{module}").command.name == name
