"""What a lake says, from commands of our own in processes of their own: its libraries need not be installed here."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from threading import BoundedSemaphore
from typing import IO, Any

import msgspec

from postroom.http.server.response import Response
from postroom.registry.problems import RegistryProblem
from postroom.ui.page import PageRequest

Words = Sequence[str]

MOST_AT_ONCE = 4
MOST_BYTES = 32 * 1024 * 1024
_WAIT_S = 10
_AT_ONCE = BoundedSemaphore(MOST_AT_ONCE)
"""Pages of a lake are few, and each of them starts processes."""


class LakeUnreadable(Exception):
    """A lake that says nothing, with the sentence of the command that was to read it."""


def require_lake(page: PageRequest) -> str:
    """Where the lake is. Without one there is no such page; rows are for those with a grant for them."""
    if not page.settings.lake:
        raise RegistryProblem("api_not_found", page.request.path)
    page.request.permissions.require_lake()
    return page.settings.lake


def ask_lake(page: PageRequest, *questions: Words) -> list[Any]:
    """What some commands print as JSON, all of them at once."""
    lake = require_lake(page)
    if not _AT_ONCE.acquire(timeout=_WAIT_S):
        raise RegistryProblem("server_busy", page.request.path)
    try:
        with tempfile.TemporaryDirectory(prefix="postroom-page-") as folder:
            running = [_start(lake, words, f"{folder}/{number}") for number, words in enumerate(questions)]
            return [_answer(process, output, page.settings.request_timeout_s) for process, output in running]
    finally:
        _AT_ONCE.release()


def lake_page(page: PageRequest, template: str, here: str, asked: Any, /, **values: Any) -> Response:
    """A page about a lake, or with `as=json` what was asked for it."""
    if page.query.get("as") == "json":
        return Response(json=asked, headers={"Cache-Control": "no-store"}, cacheable=False, root_link=False)
    query = {name: value for name, value in page.query.items() if name != "part"} | {"as": "json"}
    return page.render(
        template,
        here=here,
        json_url=page.links.page(page.request.path, **query),
        page_of_its_own="part" not in page.query,
        **values,
        kept=False,
    )


def unreadable(page: PageRequest, lake: str, error: LakeUnreadable) -> Response:
    """A page about a lake that says nothing, with what its command says about it."""
    return page.render("lake_unreadable.html", here=page.request.path, lake=lake, reason=str(error), kept=False)


def command_line(lake: str, words: Words) -> list[str]:
    """The command in this installation."""
    return [sys.executable, "-m", "postroom", *words, "--lake", lake, "--json", "--quiet"]


def typed(*words: str) -> str:
    """A command as people type it."""
    return shlex.join(["postroom", *words])


def _start(lake: str, words: Words, path: str) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    # Into a file: of several at once none has to wait until another one is read.
    output = Path(path).open("w+b")  # noqa: SIM115 - `_answer` closes it
    environment = {**os.environ, "POSTROOM_LOG_FORMAT": "text"}
    process = subprocess.Popen(
        command_line(lake, words),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    return process, output


def _answer(process: subprocess.Popen[bytes], output: IO[bytes], timeout_s: float) -> Any:
    with output:
        try:
            _, complaints = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise LakeUnreadable("the lake did not answer in time.") from None
        if process.returncode:
            raise LakeUnreadable(sentence_of(complaints))
        output.seek(0)
        return msgspec.json.decode(output.read(MOST_BYTES))


def sentence_of(complaints: bytes) -> str:
    """What a command said was wrong."""
    lines = [line for line in complaints.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("postroom: ") if lines else "the command ended without a word."
