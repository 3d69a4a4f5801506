"""The unit for systemd: its command, its limits, and what `systemd-analyze` says where it is."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from postroom.settings import Settings
from tests.deploy.serve_command import DEPLOY, settings_of

UNIT = DEPLOY / "postroom.service"


def directives() -> dict[str, list[str]]:
    """By `Section.Name`: the values, in order; a directive may be there several times."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in UNIT.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, sign, text = line.partition("=")
            assert sign, f"neither a section nor a directive: {line}"
            found.setdefault(f"{section}.{name}", []).append(text)
    return found


def only(name: str) -> str:
    [text] = directives()[f"Service.{name}"]
    return text


def settings() -> Settings:
    variables = dict(text.split("=", 1) for text in directives()["Service.Environment"])
    return settings_of(shlex.split(only("ExecStart")), variables)


def test_its_command_and_variables_are_those_of_serve() -> None:
    found = settings()
    assert found.access == "on"
    assert found.db == f"sqlite:////var/lib/{only('StateDirectory')}/registry.db"
    assert only("WorkingDirectory") == f"/var/lib/{only('StateDirectory')}"


def test_a_reload_replaces_workers_so_there_are_several() -> None:
    # With one process SIGHUP would end it.
    assert only("ExecReload") == "/bin/kill -HUP $MAINPID"
    assert settings().workers > 1


def test_stopping_has_the_time_that_the_service_takes() -> None:
    found = settings()
    assert only("KillMode") == "mixed"
    assert int(only("TimeoutStopSec")) > found.drain_s + found.stop_timeout_s


def test_a_wrong_setting_is_not_tried_again() -> None:
    assert only("Restart") == "on-failure"
    assert only("RestartPreventExitStatus") == "2"
    command = [*shlex.split(only("ExecStart"))[1:], "--port", "none"]
    tried = subprocess.run([sys.executable, "-m", "postroom", *command], capture_output=True, check=False)
    assert tried.returncode == 2


def test_it_is_not_root_and_writes_to_its_state_folder_only() -> None:
    assert only("User") not in ("", "root", "0")
    assert only("ProtectSystem") == "strict"
    assert "Service.ReadWritePaths" not in directives()
    assert only("NoNewPrivileges") == "yes"
    assert only("CapabilityBoundingSet") == ""


@pytest.fixture
def systemd_analyze() -> str:
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("NOT HERE: systemd-analyze; the unit was only read")
    return found


def test_systemd_finds_nothing_wrong_with_it(systemd_analyze: str, tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("ExecStart=/opt/postroom/bin/postroom", "ExecStart=/bin/true"))
    checked = subprocess.run([systemd_analyze, "verify", unit], capture_output=True, text=True, check=False)
    # What it says of other units of the machine is not about this one.
    assert [line for line in checked.stderr.splitlines() if UNIT.name in line] == []


def test_systemd_calls_its_exposure_low(systemd_analyze: str) -> None:
    command = [systemd_analyze, "security", "--offline=true", "--no-pager", UNIT]
    shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.search(r"Overall exposure level for postroom\.service: ([\d.]+)", shown)
    if found is None:
        pytest.skip("NOT HERE: a systemd-analyze that looks at a file; the exposure was not measured")
    assert float(found[1]) < 2.5
