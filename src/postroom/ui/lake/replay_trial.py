"""What would land now: a replay of dead letters that changes nothing, by a command that goes on beside the pages."""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import re
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import IO, Any, Literal

import msgspec

from postroom.catalog.export import portable_document
from postroom.http.server.response import Response
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.ui import texts
from postroom.ui.lake.dead_letters import condition_of, known_outcome
from postroom.ui.lake.lake_commands import command_line, lake_page, require_lake, sentence_of, typed
from postroom.ui.page import PageRequest
from postroom.ui.trying.try_it import form_of

LONGEST_S = 600.0
_LOOK_EVERY_S = 0.1
_GOODBYE_S = 5.0
_CODE = re.compile(r"[a-z0-9_]{0,80}")


class Trial(msgspec.Struct, frozen=True):
    """The trial that ran last, or runs: of which letters, since when, and how it ended."""

    status: Literal["none", "running", "done", "failed", "cancelled"] = "none"
    outcome: str = ""
    code: str = ""
    started: str = ""
    finished: str = ""
    answer: dict[str, Any] = {}
    problem: str = ""


class TrialFolder:
    """Where the processes of a service keep their one trial: a lock that its keeper holds, and what is known of it."""

    def __init__(self, settings: Settings) -> None:
        name = hashlib.sha256(f"{settings.db}\n{settings.lake}".encode()).hexdigest()[:16]
        self.path = Path(tempfile.gettempdir()) / f"postroom-trials-{os.getuid()}" / name
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.path.parent, self.path):
            found = folder.lstat()
            if found.st_uid != os.getuid() or folder.is_symlink() or found.st_mode & 0o022:
                raise RegistryProblem("server_error", str(folder), detail="This folder belongs to somebody else.")

    def trial(self) -> Trial:
        """What is known of the trial."""
        try:
            found = msgspec.json.decode((self.path / "trial.json").read_bytes(), type=Trial)
        except (OSError, msgspec.MsgspecError):
            return Trial()
        if found.status == "running" and (lock := self._lock()) is not None:
            lock.close()
            return msgspec.structs.replace(found, status="failed", problem=texts.trial_lost)
        return found

    def start(self, command: list[str], outcome: str, code: str, catalog: bytes) -> None:
        """Run a trial, unless there is one."""
        lock = self._lock()
        if lock is None:
            return
        (self.path / "cancel").unlink(missing_ok=True)
        catalog_file = self.path / "catalog.json"
        catalog_file.write_bytes(catalog)
        begun = Trial("running", outcome, code, _now())
        self._keep(begun)
        whole = [*command, "--catalog", str(catalog_file)]
        Thread(target=self._run, args=(whole, begun, lock), name="replay trial", daemon=True).start()

    def cancel(self) -> None:
        """Ask whichever process runs the trial to end it."""
        (self.path / "cancel").touch()
        until = time.monotonic() + _GOODBYE_S
        while self.trial().status == "running" and time.monotonic() < until:
            time.sleep(_LOOK_EVERY_S)

    def _lock(self) -> IO[bytes] | None:
        """The lock, which ends with its process; None while somebody else has it."""
        file = (self.path / "lock").open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return file

    def _keep(self, trial: Trial) -> None:
        made = self.path / "trial.new"
        made.write_bytes(msgspec.json.encode(trial))
        made.replace(self.path / "trial.json")

    def _run(self, command: list[str], begun: Trial, lock: IO[bytes]) -> None:
        with lock, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=complaints,
                env={**os.environ, "POSTROOM_LOG_FORMAT": "text"},
                start_new_session=True,
            )
            atexit.register(process.kill)
            stopped = self._wait(process)
            atexit.unregister(process.kill)
            output.seek(0)
            complaints.seek(0)
            ended = msgspec.structs.replace(begun, finished=_now())
            if stopped:
                ended = msgspec.structs.replace(ended, status=stopped, problem=texts.trial_too_long)
            elif process.returncode:
                ended = msgspec.structs.replace(ended, status="failed", problem=sentence_of(complaints.read()))
            else:
                answer = msgspec.json.decode(output.read(), type=dict[str, Any])
                ended = msgspec.structs.replace(ended, status="done", answer=answer)
            self._keep(ended)

    def _wait(self, process: subprocess.Popen[bytes]) -> Literal["", "cancelled", "failed"]:
        """Wait for the end of a process, or end it: because somebody says so, or because it takes too long."""
        until = time.monotonic() + LONGEST_S
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_EVERY_S)
                return ""
            is_cancelled = (self.path / "cancel").exists()
            if is_cancelled or time.monotonic() > until:
                _end(process)
                return "cancelled" if is_cancelled else "failed"


def answer_replay(page: PageRequest) -> Response:
    """The trial: started or cancelled by a form, looked at otherwise."""
    lake = require_lake(page)
    sent = form_of(page) if page.request.method == "POST" else page.query
    outcome, code = sent.get("outcome", ""), sent.get("code", "")
    where = condition_of(known_outcome(outcome, page), _known_code(code, page)) if outcome else ""
    folder = TrialFolder(page.settings)
    if page.request.method == "POST" and sent.get("do") == "cancel":
        folder.cancel()
    elif page.request.method == "POST":
        folder.start(command_line(lake, _words(where)), outcome, code, _catalog(page))
    trial = folder.trial()
    base = page.request.base.removesuffix("/ui").removesuffix("/-")
    answer = trial.answer
    return lake_page(
        page,
        "lake_replay.html",
        "/-/lake/dead",
        trial,
        where=where,
        outcome=outcome,
        code=code,
        trial=trial,
        is_of_this=trial.status != "none" and (trial.outcome, trial.code) == (outcome, code),
        lands=sum(answer.get("landed", {}).values()),
        stays=sum(answer.get("dead", {}).values()),
        again=page.links.page("/-/lake/replay", outcome=outcome, code=code),
        command=typed("replay", "--catalog", base, "--lake", lake, *(("--where", where) if where else ())),
    )


def _words(where: str) -> list[str]:
    return ["replay", "--dry-run", *(("--where", where) if where else ())]


def _catalog(page: PageRequest) -> bytes:
    """The present catalog, as far as it may be seen."""
    with page.reading():
        return msgspec.json.encode(portable_document(page.tx))


def _known_code(text: str, page: PageRequest) -> str:
    if not _CODE.fullmatch(text):
        raise RegistryProblem("bad_request", page.request.path, error_detail=f"there is no reason {text[:40]!r}")
    return text


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started; it has a moment to remove its files."""
    for how in (signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GOODBYE_S / 2)
            return


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
