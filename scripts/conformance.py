"""Write docs/conformance.md: which test shows which requirement of the xRegistry specification.

`python scripts/conformance.py` writes the page, `--check` only says whether it is out of date, `--open` prints the
requirements and audit entries without a test. The tests say what they show with `@pytest.mark.feature("REG-001", …)`
and `@pytest.mark.audit("messages-D1", …)`; they are read, not imported, so this needs nothing but Python.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
PAGE = ROOT / "docs" / "conformance.md"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
AUDITS = Path(__file__).with_name("audit_entries.toml")
EXCEPTIONS = TESTS / "http" / "corpus_exceptions.toml"

NOTE = "<!-- Written by scripts/conformance.py from the markers in the tests: change it there. -->"
OPENING = """\
# Conformance

What xRegistry 1.0-rc4 demands of a registry, requirement by requirement, and the tests that show it. The ids are those
of the project's checklist; the words are reminders, the specification has the rules. A test names the ids it shows with
`@pytest.mark.feature`, and one test often shows several."""
CORPUS = """\
## Where we differ from the recorded corpus

`tests/http/test_corpus.py` replays exchanges that were recorded from the reference server. All cases pass, except those
listed here, where we follow the specification; the test fails, too, when one of them starts to pass."""

ROOM = """\
## Where the text leaves room

Here two sentences of the specification disagree, or one leaves open what a server does. We do as the reference server.

| id | sentences | reading |
|---|---|---|"""
READINGS = (
    (
        "REG-021, REG-056",
        'of every attribute "an empty string is a valid value"; `name` "MUST be non-empty"',
        "an empty `name` is taken",
    ),
    (
        "MOD-029, MOD-031, MOD-060, MOD-064",
        "rc3 compared strings ignoring case unless told otherwise; rc4 dropped the aspect and gives no rule",
        "`enum`, `equals` and `matchversions` ignore case",
    ),
    (
        "MOD-078",
        'with some version modes `singleversionroot` "MUST be set to `true`"; by whom is open',
        "the registry sets it",
    ),
    ("MOD-085", 'a key of `typemap` "MAY include at most one `*`"; no error is named', "several are taken"),
    (
        "FLAG-057",
        '`request` is an error when no Version "was created"; the title of the error says "wasn\'t processed"',
        "a POST that updates one Version names it",
    ),
    (
        "VER-005",
        'ids go on "from the highest previously generated value"; servers "MAY have their own algorithm"',
        "a Version that takes the place of an `xref` is not counted",
    ),
)

FOUND = """\
## What outside readers found

Readers from outside held the five documents and the specification beside the product. Every entry of theirs is fixed,
with a test, or argued with the sentence that supports what we do.

| entry | about | fixed (tests) or argued |
|---|---|---|"""

Tests = Mapping[str, list[str]]
Entries = Mapping[str, Mapping[str, str]]


class Misspelt(Exception):
    """A marker or the checklist cannot be read."""


@dataclass(frozen=True)
class Requirement:
    """One row of the checklist."""

    id: str
    level: str
    words: str


@dataclass
class Group:
    """Rows that belong together."""

    name: str
    title: str
    rows: list[Requirement] = field(default_factory=list)


def read_requirements(text: str) -> tuple[list[Group], dict[str, int]]:
    """The groups of the page, and how many requirements every group has in all."""
    groups: list[Group] = []
    sizes: dict[str, int] = {}
    for line in text.splitlines():
        if size := re.fullmatch(r"@ (\w+) (\d+)", line):
            sizes[size[1]] = int(size[2])
        elif head := re.fullmatch(r"# ([A-Z0-9]+) (\S.*)", line):
            groups.append(Group(head[1], head[2]))
        elif row := re.fullmatch(r"([A-Z0-9]+-\d{3}) (MUST|SHOULD|MAY) (\S.*)", line):
            groups[-1].rows.append(Requirement(row[1], row[2], row[3]))
        elif line and not line.startswith("#"):
            raise Misspelt(f"{REQUIREMENTS.name}: cannot read {line!r}")
    return groups, sizes


def read_markers(folder: Path, marker: str = "feature") -> dict[str, list[str]]:
    """The tests that name each id in a marker, as `folder/test_file::test_name`."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        module = path.relative_to(folder).with_suffix("").as_posix()
        for name, ids in _marked(ast.parse(path.read_text(encoding="utf-8")), path, marker):
            for requirement in ids:
                found.setdefault(requirement, []).append(f"{module}::{name}")
    return found


def _marked(tree: ast.Module, path: Path, marker: str) -> Iterator[tuple[str, list[str]]]:
    values = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    everywhere = _ids([values["pytestmark"]] if "pytestmark" in values else [], {}, path, marker)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            shared = [*everywhere, *_ids(node.decorator_list, values, path, marker)]
            members: Sequence[ast.stmt] = node.body
        else:
            shared, members = everywhere, [node]
        for member in members:
            if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and member.name.startswith("test_"):
                ids = [*shared, *_ids(member.decorator_list, values, path, marker)]
                yield member.name, list(dict.fromkeys(ids))


def _ids(expressions: Sequence[ast.expr], values: Mapping[str, ast.expr], path: Path, marker: str) -> list[str]:
    """The ids in markers, also in those of single parameters and of tables that the decorators name."""
    ids: list[str] = []
    tables: list[ast.expr] = []
    for node in (node for expression in expressions for node in ast.walk(expression)):
        if isinstance(node, ast.Name) and node.id in values:
            tables.append(values[node.id])
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == marker):
            continue
        for argument in node.args:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise Misspelt(f"{path}:{argument.lineno}: the ids of a {marker} marker have to be plain strings")
            ids.append(argument.value)
    return ids + (_ids(tables, {}, path, marker) if tables else [])


def check_ids(tests: Tests, groups: Sequence[Group], sizes: Mapping[str, int]) -> None:
    """Refuse ids that no checklist has."""
    known = {f"{name}-{number:03}" for name, size in sizes.items() for number in range(1, size + 1)}
    for requirement, names in tests.items():
        if requirement not in known:
            raise Misspelt(f"{names[0]}: there is no requirement {requirement}")
    listed = [row.id for group in groups for row in group.rows]
    twice = {one for one in listed if listed.count(one) > 1} | (set(listed) - known)
    if twice:
        raise Misspelt(f"{REQUIREMENTS.name}: twice or unknown: {', '.join(sorted(twice))}")


def check_entries(tests: Tests, entries: Entries) -> None:
    """Refuse entries that no audit has."""
    for entry, names in tests.items():
        if entry not in entries:
            raise Misspelt(f"{names[0]}: there is no audit entry {entry}")


def open_entries(entries: Entries, tests: Tests) -> list[str]:
    """The entries that no test shows and no sentence argues."""
    return [entry for entry, given in entries.items() if entry not in tests and "argued" not in given]


def open_rows(group: Group, tests: Tests) -> list[Requirement]:
    """The rows of a group that no test shows."""
    return [row for row in group.rows if row.id not in tests]


def page(groups: Sequence[Group], tests: Tests, exceptions: Entries, entries: Entries, shown: Tests) -> str:
    """The whole page."""
    parts = [NOTE, OPENING, _summary(groups, tests), _open(groups, tests), CORPUS, _exceptions(exceptions), _readings()]
    parts.append(_entries(entries, shown))
    parts += [_group(group, tests) for group in groups]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(groups: Sequence[Group], tests: Tests) -> str:
    lines = ["| group | requirements | with a test | MUST without |", "|---|---|---|---|"]
    for group in groups:
        missing = open_rows(group, tests)
        must = sum(row.level == "MUST" for row in missing)
        link = f"[{group.name}](#{_slug(f'{group.name}: {group.title}')})"
        lines.append(f"| {link} | {len(group.rows)} | {len(group.rows) - len(missing)} | {must or 'none'} |")
    return "\n".join(lines)


def _open(groups: Sequence[Group], tests: Tests) -> str:
    missing = [row for group in groups for row in open_rows(group, tests)]
    if not missing:
        return ""
    lines = ["## Not shown by a test", "", "| id | level | about |", "|---|---|---|"]
    order = {"MUST": 0, "SHOULD": 1, "MAY": 2}
    lines += [f"| {row.id} | {row.level} | {row.words} |" for row in sorted(missing, key=lambda row: order[row.level])]
    return "\n".join(lines)


def _exceptions(exceptions: Entries) -> str:
    argued = {case: given for case, given in sorted(exceptions.items()) if given["section"]}
    lines = ["| case | section | reason |", "|---|---|---|"]
    lines += [f"| `{case}` | {given['section']} | {given['reason']} |" for case, given in argued.items()]
    unfinished = [case for case in sorted(exceptions) if case not in argued]
    if unfinished:
        lines += ["", f"Not done yet: {', '.join(f'`{case}`' for case in unfinished)}."]
    return "\n".join(lines)


def _readings() -> str:
    return "\n".join([ROOM, *(f"| {' | '.join(row)} |" for row in READINGS)])


def _entries(entries: Entries, shown: Tests) -> str:
    lines = [FOUND]
    for entry, given in entries.items():
        words = [f"`{name}`" for name in shown.get(entry, [])] + ([given["argued"]] if "argued" in given else [])
        lines.append(f"| {entry} | {given['about']} | {'<br>'.join(words) or 'open'} |")
    return "\n".join(lines)


def _group(group: Group, tests: Tests) -> str:
    lines = [f"## {group.name}: {group.title}", "", "| id | level | about | tests |", "|---|---|---|---|"]
    for row in group.rows:
        names = "<br>".join(f"`{name}`" for name in tests.get(row.id, [])) or "none"
        lines.append(f"| {row.id} | {row.level} | {row.words} | {names} |")
    return "\n".join(lines)


def _slug(title: str) -> str:
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def read_entries() -> dict[str, dict[str, str]]:
    """The entries of the audits by id."""
    found: dict[str, dict[str, str]] = tomllib.loads(AUDITS.read_text(encoding="utf-8"))
    return found


def read_exceptions() -> dict[str, dict[str, str]]:
    """Cases of the corpus where we follow the specification instead."""
    found: dict[str, dict[str, str]] = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))
    return found


def run(arguments: Sequence[str] | None = None) -> int:
    """Write or check the page; 1 when it is out of date or a marker is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is out of date")
    parser.add_argument("--open", action="store_true", help="print the requirements without a test")
    given = parser.parse_args(arguments)
    groups, sizes = read_requirements(REQUIREMENTS.read_text(encoding="utf-8"))
    entries = read_entries()
    try:
        tests = read_markers(TESTS)
        check_ids(tests, groups, sizes)
        shown = read_markers(TESTS, "audit")
        check_entries(shown, entries)
    except Misspelt as error:
        print(error, file=sys.stderr)
        return 1
    if given.open:
        for group in groups:
            for row in open_rows(group, tests):
                print(row.id, row.level, row.words)
        for entry in open_entries(entries, shown):
            print(entry, entries[entry]["about"])
        return 0
    text = page(groups, tests, read_exceptions(), entries, shown)
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if stale and given.check:
        print("docs/conformance.md is out of date; `python scripts/conformance.py` writes it anew.", file=sys.stderr)
        return 1
    if stale:
        PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(run())
