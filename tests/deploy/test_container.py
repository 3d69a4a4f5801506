"""The container recipe: read line by line everywhere, built and run where there is an engine."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click
import httpx
import pytest

from postroom.errors import UnknownSetting
from tests.deploy.serve_command import DEPLOY, settings_of
from tests.http.running_service import serving

ROOT = DEPLOY.parent
PUBLIC_IMAGE = re.compile(r"python:3\.\d+-slim")
READ_ONLY = """
import errno, os, sys
WRITABLE = tuple(os.environ["WRITABLE"].split(":"))
def refuse(event, arguments):
    writes = event in ("os.mkdir", "sqlite3.connect") or (
        event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    if writes and isinstance(arguments[0], (str, bytes)):
        path = os.path.abspath(os.fsdecode(arguments[0]).removeprefix("file:"))
        if not path.startswith(WRITABLE):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
sys.addaudithook(refuse)
"""
"""What Python runs first, where the root file system is to be only read."""

Instruction = tuple[str, str]


def instructions() -> list[Instruction]:
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines) if word]


def stages() -> list[list[Instruction]]:
    found: list[list[Instruction]] = []
    for instruction in instructions():
        if instruction[0] == "FROM":
            found.append([])
        found[-1].append(instruction)
    return found


def value(word: str) -> str:
    """What the only instruction of that name in the last stage says."""
    [found] = [rest for name, rest in stages()[-1] if name == word]
    return found


def variables() -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in shlex.split(value("ENV")))


def command() -> list[str]:
    started: list[str] = json.loads(value("ENTRYPOINT")) + json.loads(value("CMD"))
    return started


def health_check() -> list[str]:
    return list(json.loads(value("HEALTHCHECK").partition("CMD ")[2]))


def test_every_instruction_is_one_that_engines_know() -> None:
    known = "FROM ENV RUN COPY USER WORKDIR VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD"
    assert {word for word, _ in instructions()} == set(known.split())


def test_what_builds_is_not_in_the_image_that_runs() -> None:
    build, final = stages()
    assert [PUBLIC_IMAGE.fullmatch(rest.split()[0]) is not None for _, rest in (build[0], final[0])] == [True, True]
    assert build[0][1].split()[0] == final[0][1], "a virtual environment needs the Python that made it"
    assert [rest for word, rest in final if word == "COPY"] == ["--from=build /opt/postroom /opt/postroom"]
    assert not any(re.search(r"\b(pip|apt|apt-get)\b", rest) for word, rest in final if word == "RUN")


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert ignored[0] == "*"
    copied = [source for word, rest in stages()[0] if word == "COPY" for source in rest.split()[:-1]]
    assert copied
    for source in copied:
        assert (ROOT / source).exists()
        assert f"!{source}" in ignored
    assert {line for line in ignored if line.startswith("!")} == {f"!{source}" for source in copied}


def test_dependencies_are_those_of_the_project_pinned_with_hashes() -> None:
    pinned = (ROOT / "requirements" / "server.txt").read_text()
    tried = (ROOT / "requirements" / "dev.txt").read_text()
    versions = re.findall(r"^([\w.-]+==[^ ;]+)", pinned, re.MULTILINE)
    assert {one.partition("==")[0] for one in versions} >= {"uvicorn", "psycopg-binary", "opentelemetry-sdk"}
    assert [one for one in versions if not re.search(rf"^{re.escape(one)}[ ;]", tried, re.MULTILINE)] == []
    assert any("--require-hashes" in rest and "server.txt" in rest for _, rest in stages()[0])


def test_it_does_not_run_as_root() -> None:
    user, _, group = value("USER").partition(":")
    assert int(user) > 0
    assert int(group) > 0
    words = [word for word, _ in stages()[-1]]
    assert "RUN" not in words[words.index("USER") :]
    made = next(rest for word, rest in stages()[-1] if word == "RUN")
    assert made == f"install -d -o {user} -g {group} -m 700 {value('VOLUME')}"


def test_its_command_and_variables_are_those_of_serve() -> None:
    settings = settings_of(command(), {**variables(), "POSTROOM_WORKERS": "2"})
    assert settings.access == "on"
    assert settings.host == "0.0.0.0"  # noqa: S104
    assert str(settings.port) == value("EXPOSE")
    assert settings.db.startswith(f"sqlite:///{value('VOLUME')}/")
    assert f":{settings.port}/" in health_check()[-1]


def test_a_flag_or_variable_that_serve_has_not_would_be_noticed() -> None:
    with pytest.raises(click.NoSuchOption):
        settings_of(["postroom", "serve", "--data", "/data"], {})
    with pytest.raises(UnknownSetting):
        settings_of(["postroom", "serve"], {"POSTROOM_DATABASE": "sqlite:///r.db"})


@pytest.fixture
def run_folders(tmp_path: Path) -> dict[str, str]:
    """The variables of a process whose root file system is only read, as far as Python's own files go."""
    for name in ("hook", "data", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(READ_ONLY)
    writable = f"{tmp_path}/data/:{tmp_path}/tmp/:/dev/"
    path = os.pathsep.join([f"{tmp_path}/hook", *filter(None, [os.environ.get("PYTHONPATH")])])
    return {"PYTHONPATH": path, "WRITABLE": writable, "TMPDIR": f"{tmp_path}/tmp", "HOME": "/nonexistent"}


def asked_by_health_check(url: str) -> int:
    program, *arguments = health_check()
    assert program == "python"
    moved = [one.replace(f"http://127.0.0.1:{variables()['POSTROOM_PORT']}", url) for one in arguments]
    return subprocess.run([sys.executable, *moved], capture_output=True, check=False).returncode


@pytest.mark.sqlite
def test_the_service_writes_only_below_its_volume_and_its_health_check_tells_when_it_is_gone(
    tmp_path: Path, run_folders: dict[str, str]
) -> None:
    database = variables()["POSTROOM_DB"].replace(value("VOLUME"), f"{tmp_path}/data")
    fixed = {name: text for name, text in variables().items() if name not in ("PATH", "POSTROOM_DB", "POSTROOM_PORT")}
    with serving(database, listens="0.0.0.0", **{**fixed, **run_folders}) as (_, told):  # noqa: S104
        url = told.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        assert asked_by_health_check(url) == 0
        keys = [sys.executable, "-m", "postroom", "keys", "create", "root", "--grant", "admin:/", "--at", database]
        made = subprocess.run(keys, capture_output=True, text=True, check=True, env={**os.environ, **run_folders})
        headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
        assert httpx.put(f"{url}/messagegroups/ovens", json={}, headers=headers).status_code == 201
    assert asked_by_health_check(url) != 0


def test_a_write_elsewhere_would_be_noticed(tmp_path: Path, run_folders: dict[str, str]) -> None:
    script = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('dough')"
    tried = [
        subprocess.run(
            [sys.executable, "-c", script, f"{tmp_path}/{where}"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **run_folders},
        )
        for where in ("data/oven", "oven")
    ]
    assert [one.returncode for one in tried] == [0, 1]
    assert "Read-only file system" in tried[1].stderr


@pytest.fixture(scope="module")
def engine() -> str:
    for name in ("docker", "podman"):
        if shutil.which(name) and not subprocess.run([name, "info"], capture_output=True, check=False).returncode:
            return name
    pytest.skip("NOT HERE: a container engine; the image was not built")


def test_the_image_is_built_and_serves_with_a_root_that_is_only_read(engine: str) -> None:
    def run(*arguments: str) -> str:
        return subprocess.run([engine, *arguments], capture_output=True, text=True, check=True).stdout.strip()

    run("build", "-f", str(DEPLOY / "Dockerfile"), "-t", "postroom:test", str(ROOT))
    hardened = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    container = run("run", "--detach", "--publish", "127.0.0.1::8080", *hardened, "postroom:test")
    try:
        url = "http://" + run("port", container, "8080").splitlines()[0]
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{url}/-/readyz").status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.5)
        assert httpx.get(f"{url}/-/readyz").json() == {"status": "ready"}
        assert httpx.get(f"{url}/").status_code == 401
        assert run("exec", container, "id", "-u") == value("USER").partition(":")[0]
        assert run("exec", container, *health_check()) == ""
        database = variables()["POSTROOM_DB"]
        key = run("exec", container, "postroom", "keys", "create", "root", "--grant", "admin:/", "--at", database)
        answer = httpx.put(f"{url}/messagegroups/ovens", json={}, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 201
    finally:
        run("rm", "--force", "--volumes", container)
