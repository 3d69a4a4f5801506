"""The shell sessions that the documentation shows are true."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.absence import absent
from tests.docs.sessions import ROOT, Shell, Step, all_pages, chains, fits, read_fences, run_page, starts_spark

TOOLS = ("cmp", "curl", "openssl")
"""What some pages use beside the tools that every machine has."""


def _parameters() -> list[object]:
    return [
        pytest.param(
            chain,
            id="+".join(str(page.relative_to(ROOT)) for page in chain),
            marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")] if starts_spark(chain) else [],
        )
        for chain in chains(all_pages())
    ]


@pytest.mark.parametrize("chain", _parameters())
def test_sessions_show_what_really_comes_out(chain: list[Path], tmp_path: Path) -> None:
    used = {
        tool for page in chain for tool in TOOLS if re.search(rf"(^ *\$|\|) {tool} ", page.read_text(), re.MULTILINE)
    }
    if missing := sorted(tool for tool in used if not shutil.which(tool)):
        absent(", ".join(missing), "the pages that use it were not tried")
    shell = Shell(tmp_path / "work")
    try:
        complaints = [
            f"{page.relative_to(ROOT)}: {result.complaint}"
            for page in chain
            for _, ran in run_page(page.read_text(), shell)
            for result in ran
            if result.complaint
        ]
    finally:
        shell.close()
    assert not complaints, "\n\n".join(complaints)


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_shell_examples_are_sessions(page: Path) -> None:
    # A fence of any other shell language would be shown and never run.
    assert not re.search(r"^ *```(sh|bash|shell|zsh)\b", page.read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_can_be_copied_as_they_stand(page: Path) -> None:
    assert not re.search(r"^ *\$ .*\n *> ", page.read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_sessions_that_are_not_run_say_why(page: Path) -> None:
    for directive in re.findall(r"<!-- test: (skip.*?) -->", page.read_text()):
        assert re.fullmatch(r"skip, \S.+", directive)


@pytest.mark.parametrize(
    ("expected", "output", "same"),
    [
        ("landed 3", "landed 3\n", True),
        ("landed 3", "landed 4\n", False),
        ("landed …", "landed 4\n", True),
        ("in … s", "in 4.2\nseconds s\n", False),
        ("first\n…\nlast", "first\nlast\n", True),
        ("first\n…\nlast", "first\none\ntwo\nlast\n", True),
        ("first\n…\nlast", "one\nlast\n", False),
        ("", "", True),
        ("", "something\n", False),
        ("a (b)* c", "a (b)* c   \n\n", True),
    ],
)
def test_expected_output_is_compared_line_by_line(expected: str, output: str, same: bool) -> None:
    assert fits(expected, output) is same


def test_a_wrong_output_and_a_wrong_exit_code_are_complaints(tmp_path: Path) -> None:
    page = "```console\n$ echo three\nfour\n$ true\n$ false\n```\n"
    shell = Shell(tmp_path / "work")
    try:
        [(_, [said, fine, failed])] = run_page(page, shell)
    finally:
        shell.close()
    assert "the page shows\nfour\n--- it prints\nthree" in said.complaint
    assert not fine.complaint
    assert "ends with 1, not 0" in failed.complaint


def test_the_folder_the_shell_and_the_background_last_for_the_page(tmp_path: Path) -> None:
    page = """
```text title="letters/one.txt"
dear reader
```

```console
$ cat letters/one.txt
dear reader
$ cd letters
$ NAME=Ada
```

<!-- test: exit 3 -->
```console
$ pwd; echo $NAME
…/letters
Ada
$ (echo up; sleep 60) &
up
$ echo 'two
lines' | \\
  tr a-z A-Z
TWO
LINES
$ (exit 3)
```
"""
    shell = Shell(tmp_path / "work")
    try:
        complaints = [result.complaint for _, ran in run_page(page, shell) for result in ran if result.complaint]
    finally:
        shell.close()
    assert complaints == []


def test_skipped_sessions_are_left_out() -> None:
    page = "<!-- test: skip, too slow here -->\n```console\n$ make demo\n```\n\n```console\n$ true\n```\n"
    assert [fence.actions[0] for fence in read_fences(page)] == [Step("true", "")]
