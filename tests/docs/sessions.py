"""Shell sessions in Markdown: find them, run them, compare what they show with what really comes out.

A session is a fence marked `console`: lines that begin with `$ ` are typed, with those that follow while a quote is
open or a line ends with a backslash, so that whole commands can be copied; the lines below are the expected output.
`…` matches anything within its line; alone on a line it matches any number of lines. The sessions of a page run in
order in one shell and one folder, which has a copy of `demo/`. A fence with `title="name"` is written to that file
first. A command that ends with `&` stays in the background until the page ends; the next one runs as soon as its
expected output is there. Port 8080 stands for a port that is free.

What a reader need not see is said in a comment right before a fence:

    <!-- test: skip, the reason -->     it is not run
    <!-- test: exit 1 -->               its last command ends with this exit code; all others end with 0

and anywhere in a page:

    <!-- test: spark -->                it starts Spark
    <!-- test: after sort.md -->        it goes on where another page (in the same folder) ended

`python tests/docs/sessions.py PAGE…` runs pages and writes what came out into those sessions that do not fit.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHOWN_PORT = "8080"
PATIENCE = 180.0

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)(?P<rest>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_TITLE = re.compile(r'title="([^"]+)"')
_DIRECTIVE = re.compile(r"<!-- test: (.+?) -->\s*\Z")
_AFTER = re.compile(r"<!-- test: after (\S+) -->")


@dataclass(frozen=True)
class Step:
    """One command and the output that the page shows for it."""

    command: str
    expected: str
    exit_code: int = 0

    @property
    def in_background(self) -> bool:
        """Whether it keeps running while the next commands do their work."""
        return self.command.rstrip().endswith("&")


@dataclass(frozen=True)
class NewFile:
    """A file that the page asks its reader to write."""

    name: str
    text: str


@dataclass(frozen=True)
class Fence:
    """A block of a page: where its body is, and what is to be done with it."""

    start: int
    end: int
    actions: tuple[Step | NewFile, ...]


@dataclass
class Ran:
    """A step and what came out of it."""

    step: Step
    output: str
    exit_code: int

    @property
    def complaint(self) -> str:
        """What is not as the page shows it; empty when all is well."""
        if not fits(self.step.expected, self.output):
            return f"$ {self.step.command}\n--- the page shows\n{self.step.expected}\n--- it prints\n{self.output}"
        if self.exit_code != self.step.exit_code:
            return f"$ {self.step.command}\nends with {self.exit_code}, not {self.step.exit_code}"
        return ""


def read_fences(text: str) -> list[Fence]:
    """The fences of a page that are to be run or written, in order."""
    fences: list[Fence] = []
    for found in _FENCE.finditer(text):
        directive = _DIRECTIVE.search(text[: found.start()])
        order = directive[1] if directive else ""
        if order.startswith("skip"):
            continue
        body = _dedent(found["body"], len(found["indent"]))
        title = _TITLE.search(found["rest"])
        if title:
            fences.append(Fence(found.start("body"), found.end("body"), (NewFile(title[1], body),)))
        elif found["language"] == "console":
            last = int(order.removeprefix("exit ")) if order.startswith("exit ") else 0
            fences.append(Fence(found.start("body"), found.end("body"), tuple(_steps(body, last))))
    return fences


def _dedent(body: str, width: int) -> str:
    return "".join(line[width:] if line[:width].isspace() else line for line in body.splitlines(keepends=True))


def _steps(body: str, last_exit_code: int) -> Iterator[Step]:
    blocks: list[tuple[list[str], list[str]]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            blocks.append(([line[2:]], []))
        elif not blocks:
            raise ValueError(f"a session begins with a command, not with {line!r}")
        elif not blocks[-1][1] and _goes_on(blocks[-1][0]):
            blocks[-1][0].append(line)
        else:
            blocks[-1][1].append(line)
    for number, (command, output) in enumerate(blocks, 1):
        code = last_exit_code if number == len(blocks) else 0
        yield Step("\n".join(command), "\n".join(output), code)


def _goes_on(command: list[str]) -> bool:
    """Whether a shell would wait for more of a command."""
    try:
        shlex.split("\n".join(command) + "\n" * (not command[-1].endswith("\\")))
    except ValueError:
        return True
    return False


def fits(expected: str, output: str) -> bool:
    """Whether the output is what the page shows; spaces at line ends and blank lines around it do not count."""
    return re.fullmatch(_pattern(expected), _tidy(output), re.DOTALL) is not None


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"


def _pattern(expected: str) -> str:
    if not expected.strip():
        return r"\n"
    lines = _tidy(expected).splitlines()
    return "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == "…" else "[^\n]*?".join(map(re.escape, line.split("…"))) + r"\n"
        for line in lines
    )


@dataclass
class Shell:
    """One bash in a folder of its own, fed command by command."""

    folder: Path
    port: str = field(default_factory=lambda: str(_free_port()))

    def __post_init__(self) -> None:
        shutil.copytree(ROOT / "demo", self.folder / "demo", ignore=shutil.ignore_patterns("__pycache__"))
        (self.folder.parent / "home").mkdir(exist_ok=True)
        self._marker = f"--- end of command {os.urandom(8).hex()}"
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=self.folder,
            env=_environment(self.folder.parent / "home"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, step: Step) -> Ran:
        """Type a command and wait for its end, or, in the background, for what it is expected to print."""
        command = step.command.replace(SHOWN_PORT, self.port)
        if step.in_background:
            return self._start(step, command)
        output, code = self._type(command)
        return Ran(step, self._shown(output), code)

    def _shown(self, output: str) -> str:
        """The output as it would be on the reader's machine: their port, and no folder of ours."""
        return output.replace(self.port, SHOWN_PORT).replace(str(self.folder), "…")

    def _type(self, command: str) -> tuple[str, int]:
        assert self._process.stdin
        assert self._process.stdout
        # `(exit …)` lets a later `echo $?` see the command's own exit code.
        tail = f"last=$?; printf '%s %d\\n' '{self._marker}' $last; (exit $last)\n"
        self._process.stdin.write(f"{{ {command}\n}} </dev/null\n{tail}")
        self._process.stdin.flush()
        lines: list[str] = []
        for line in self._process.stdout:
            text, marker, code = line.partition(self._marker)
            if marker:
                return "".join([*lines, text]), int(code)
            lines.append(line)
        raise RuntimeError(f"the shell ended during {command!r} after printing {''.join(lines)!r}")

    def _start(self, step: Step, command: str) -> Ran:
        log = self.folder.parent / f"background-{time.monotonic_ns()}.log"
        self._type(f"{command.rstrip().removesuffix('&')} >{log} 2>&1 &")
        deadline = time.monotonic() + PATIENCE
        output = ""
        while time.monotonic() < deadline:
            output = self._shown(log.read_text()) if log.exists() else ""
            if output and fits(step.expected, output):
                break
            time.sleep(0.05)
        return Ran(step, output, 0)

    def close(self) -> None:
        """End the shell and everything it started."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                break
            time.sleep(0.3)
        self._process.communicate()


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("POSTROOM_", "XDG_", "PYTEST_"))}
    own = {"HOME": str(home), "LC_ALL": "C.UTF-8", "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1"}
    return kept | own | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def run_page(text: str, shell: Shell) -> Iterator[tuple[Fence, list[Ran]]]:
    """Do what a page says, fence by fence."""
    for fence in read_fences(text):
        ran: list[Ran] = []
        for action in fence.actions:
            if isinstance(action, NewFile):
                target = shell.folder / action.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(action.text)
            else:
                ran.append(shell.run(action))
        yield fence, ran


def all_pages() -> list[Path]:
    """Every page that may hold sessions."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def chains(pages: Sequence[Path]) -> list[list[Path]]:
    """Pages with something to run, those that go on from another one right behind it."""
    with_actions = [page for page in pages if read_fences(page.read_text())]
    previous = {page: _previous(page) for page in with_actions}
    found = [[page] for page in with_actions if previous[page] is None]
    for chain in found:
        for page in chain:
            chain.extend(later for later, earlier in previous.items() if earlier == page)
    return found


def _previous(page: Path) -> Path | None:
    found = _AFTER.search(page.read_text())
    return (page.parent / found[1]).resolve() if found else None


def starts_spark(chain: Sequence[Path]) -> bool:
    """Whether one of the pages starts Spark."""
    return any("<!-- test: spark -->" in page.read_text() for page in chain)


def record(page: Path, shell: Shell) -> int:
    """Run a page and write the true output into the sessions that show something else; says how many."""
    text = page.read_text()
    changes: list[tuple[Fence, str]] = []
    for fence, ran in run_page(text, shell):
        for result in ran:
            if result.exit_code != result.step.exit_code:
                print(f"{page}: $ {result.step.command}: ends with {result.exit_code}", file=sys.stderr)
        if any(not fits(result.step.expected, result.output) for result in ran):
            changes.append((fence, "".join(map(_rendered, ran))))
    for fence, body in reversed(changes):
        text = text[: fence.start] + body + text[fence.end :]
    page.write_text(text)
    return len(changes)


def _rendered(ran: Ran) -> str:
    shown = ran.step.expected if fits(ran.step.expected, ran.output) else _tidy(ran.output).strip("\n")
    command = ran.step.command.replace("\n", "\n> ")
    return f"$ {command}\n{shown}\n" if shown else f"$ {command}\n"


def main() -> None:
    """Record the sessions of the given pages (all when none is given)."""
    wanted = {Path(name).resolve() for name in sys.argv[1:]}
    for chain in chains(all_pages()):
        if wanted and not wanted.intersection(chain):
            continue
        with tempfile.TemporaryDirectory(prefix="postroom-docs-", ignore_cleanup_errors=True) as scratch:
            shell = Shell(Path(scratch) / "work")
            try:
                for page in chain:
                    print(f"{page.relative_to(ROOT)}: {record(page, shell)} sessions written")
            finally:
                shell.close()


if __name__ == "__main__":
    main()
