import json
import logging

import pytest

from postroom.cli.command import configure_logs
from postroom.cli.main import execute
from postroom.cli.output import print_table, progress


def test_numbers_are_grouped_and_markup_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Counts", ("name", "rows"), [("[bold]x", 1234567)])
    shown = capsys.readouterr().out
    assert "1,234,567" in shown
    assert "[bold]x" in shown


def test_wide_rows_are_printed_a_line_per_column(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("", [f"column{n}" for n in range(20)], [[None, {"a": [1]}, *range(18)]])
    shown = capsys.readouterr().out
    assert 'column1   {"a":[1]}' in shown
    assert "column19  17" in shown


@pytest.mark.parametrize("length", [60, 100, 200])
def test_what_must_stay_whole_is_never_folded(length: int, capsys: pytest.CaptureFixture[str]) -> None:
    name = "n" * length
    rows = [(name, "/messagegroups/" + "d" * 60, 3, "some words " * 20)]
    print_table("Tables", ("table", "definition", "rows", "columns"), rows, whole=("table",))
    shown = capsys.readouterr().out
    assert name in shown
    assert all(len(line) <= 120 for line in shown.splitlines()) or length > 60


def test_progress_is_silent_on_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("working"):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("verbose", "quiet", "shown"), [(0, False, 1), (1, False, 2), (0, True, 0)])
def test_log_lines_are_json_on_a_pipe(
    verbose: int, quiet: bool, shown: int, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(verbose, quiet)
    logger = logging.getLogger("postroom.test")
    logger.info("started", extra={"fields": {"port": 8080}})
    logger.warning("careful %s", "now")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert len(lines) == shown
    if shown == 2:
        assert (lines[0]["level"], lines[0]["port"]) == ("info", 8080)
        assert lines[1]["message"] == "careful now"


def _fail_loudly() -> None:
    try:
        _ = 1 // 0
    except ZeroDivisionError:
        logging.getLogger("postroom.test").exception("it failed")


@pytest.mark.parametrize(
    ("form", "verbose", "debug", "told"),
    [
        ("text", 0, "0", False),
        ("json", 0, "0", False),
        ("json", 1, "0", False),
        ("text", 2, "0", True),
        ("json", 0, "1", True),
    ],
)
def test_an_exception_is_logged_in_one_line_unless_somebody_debugs(
    form: str,
    verbose: int,
    debug: str,
    told: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("POSTROOM_LOG_FORMAT", form)
    monkeypatch.setenv("POSTROOM_DEBUG", debug)
    configure_logs(verbose, quiet=False)
    _fail_loudly()
    shown = capsys.readouterr().err
    assert ("Traceback" in shown) is told
    assert told or ("ZeroDivisionError" in shown and len(shown.splitlines()) == 1)


def test_settings_as_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["settings"]) == 0
    assert "POSTROOM_PORT" in capsys.readouterr().out
    assert execute(["settings", "--json"]) == 0
    assert {"name": "port", "value": 8080, "source": "default"}.items() <= json.loads(capsys.readouterr().out)[
        2
    ].items()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["completion", shell]) == 0
    assert "_POSTROOM_COMPLETE" in capsys.readouterr().out
