"""`postroom keys`, `grants` and `login`, and the key that commands send, on a store and against a running service."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import postroom
from postroom.catalog.open_store import open_store
from postroom.cli.main import execute
from postroom.errors import ServiceRefused
from postroom.http.server.serve import check_access
from postroom.settings import Settings
from tests.http.running_service import serving
from tests.replication.subscriptions.receivers import wait_until

CATALOG = Path(__file__).parents[2] / "demo" / "catalog"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/registry.db"


class Output:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def of(self, *arguments: str, exit_code: int = 0) -> str:
        code = execute(list(arguments))
        printed = self._capsys.readouterr()
        assert code == exit_code, printed.err
        return (printed.out if exit_code in (0, 1) else printed.err).strip()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Output:
    return Output(capsys)


@pytest.fixture
def root(run: Output, database: str) -> str:
    return run.of("keys", "create", "root", "--grant", "admin:/", "--at", database)


@pytest.fixture
def service(database: str, root: str) -> Iterator[str]:
    with serving(database, "--access", "on") as (_, url):
        yield url


def test_a_key_is_made_listed_rotated_and_revoked_in_a_store(run: Output, database: str, root: str) -> None:
    assert root.startswith("postroom_root_")
    (shown,) = json.loads(run.of("keys", "list", "--json", "--at", database))
    assert (shown["id"], shown["status"], shown["grants"]) == ("root", "active", ["admin:/"])
    assert root.rpartition("_")[2] not in run.of("keys", "list", "--at", database)
    assert run.of("keys", "rotate", "root", "--at", database) != root
    run.of("keys", "revoke", "root", "--at", database)
    assert "revoked" in run.of("keys", "list", "--at", database)


def test_grants_are_added_listed_and_removed_in_a_store(run: Output, database: str) -> None:
    row = ("user:anna", "read", "/messagegroups/fleet")
    assert run.of("grants", "add", *row, "--at", database) == "user:anna has read on /messagegroups/fleet"
    (shown,) = json.loads(run.of("grants", "list", "--json", "--at", database))
    assert tuple(shown.values()) == row
    run.of("grants", "remove", *row, "--at", database)
    run.of("grants", "remove", *row, "--at", database, exit_code=1)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("keys", "create", "CI"), "no name of a key"),
        (("keys", "create", "ci", "--grant", "read"), "no prefix"),
        (("keys", "create", "ci", "--expires", "soon"), "no span of time"),
        (("keys", "rotate", "none"), "no key none"),
        (("grants", "add", "anna", "read", "/"), "no subject"),
        (("grants", "add", "user:anna", "boss", "/"), "no role"),
    ],
)
def test_bad_usage_is_told_in_a_sentence(run: Output, database: str, arguments: tuple[str, ...], reason: str) -> None:
    assert reason in run.of(*arguments, "--at", database, exit_code=2)


def test_which_registry_is_meant_has_to_be_said(run: Output) -> None:
    assert "which registry?" in run.of("keys", "list", exit_code=2)


def test_with_a_file_of_grants_the_store_takes_none(
    run: Output, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "access.yaml").write_text("grants: []")
    monkeypatch.setenv("POSTROOM_ACCESS_FILE", str(tmp_path / "access.yaml"))
    assert "in a file" in run.of("grants", "add", "anonymous", "read", "/", "--at", database, exit_code=2)
    assert "in a file" in run.of("keys", "create", "ci", "--grant", "read:/", "--at", database, exit_code=2)
    assert run.of("keys", "create", "ci", "--at", database).startswith("postroom_ci_")


def test_an_administrator_does_the_same_over_http(
    run: Output, service: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "wants credentials" in run.of("keys", "list", "--at", service, exit_code=3)
    monkeypatch.setenv("POSTROOM_KEY", root)
    key = run.of("keys", "create", "fleet-ci", "--grant", "write:/messagegroups/station.*", "--at", service)
    shown = {one["id"]: one for one in json.loads(run.of("keys", "list", "--json", "--at", service))}
    assert shown["fleet-ci"]["grants"] == ["write:/messagegroups/station.*"]
    new = run.of("keys", "rotate", "fleet-ci", "--at", service)
    assert new != key
    run.of("grants", "add", "key:fleet-ci", "read", "/", "--at", service)
    assert len(json.loads(run.of("grants", "list", "--json", "--at", service))) == 3
    run.of("grants", "remove", "key:fleet-ci", "read", "/", "--at", service)
    run.of("keys", "revoke", "fleet-ci", "--at", service)
    assert "401" not in run.of("keys", "list", "--at", service)
    assert "wants credentials" in run.of("keys", "list", "--at", service, "--key", new, exit_code=3)


def test_every_way_to_give_a_key(
    run: Output, service: str, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.of("load", str(CATALOG), "--to", service, "--key", root)
    assert "wants credentials" in run.of("dump", "--from", service, exit_code=3)
    path = tmp_path / "root.key"
    path.touch(mode=0o600)
    path.write_text(root)
    for way in (("--key", root), ("--key", f"file:{path}")):
        assert "station.alarms" in run.of("dump", "--from", service, *way)
    monkeypatch.setenv("POSTROOM_KEY", root)
    assert "station.alarms" in run.of("dump", "--from", service)
    assert run.of("log", "/", "--catalog", service)
    monkeypatch.delenv("POSTROOM_KEY")
    assert postroom.open_catalog(service, key=f"file:{path}").definitions
    with pytest.raises(ServiceRefused, match="wants credentials"):
        postroom.open_catalog(service)


def test_login_keeps_a_key_that_the_service_knows(
    run: Output, service: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("postroom_root_" + "0" * 64))
    assert "wants credentials" in run.of("login", service, exit_code=3)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{root}\n"))
    assert run.of("login", service) == f"signed in at {service} as key:root"
    run.of("keys", "list", "--at", service)
    assert run.of("login", service, "--remove") == f"forgot the key for {service}"
    run.of("keys", "list", "--at", service, exit_code=3)


def test_a_key_for_one_end_of_a_replication_does_not_go_to_the_other(
    run: Output, service: str, root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.of("load", str(CATALOG), "--to", service, "--key", root)
    copy = f"sqlite:///{tmp_path}/copy.db"
    assert "wants credentials" in run.of("replicate", "pull", service, copy, exit_code=3)
    run.of("replicate", "pull", service, copy, "--source-key", root)
    monkeypatch.setenv("POSTROOM_KEY", root)
    run.of("replicate", "pull", service, copy)
    assert "wants credentials" in run.of("replicate", "pull", service, service, exit_code=3)


def test_the_audit_is_listed_from_a_store_and_from_a_service(
    run: Output, service: str, database: str, root: str
) -> None:
    for where in (database, service):
        (made, gave) = json.loads(run.of("audit", "--json", "--event", "changed", "--at", where, "--key", root))[::-1]
        assert (made["principal"], made["detail"]) == ("store", "made the key root")
        assert gave["detail"] == "gave key:root admin on /"
        assert "made the key root" in run.of("audit", "--since", "1d", "--at", where, "--key", root)
    assert "no span of time" in run.of("audit", "--since", "soon", "--at", database, exit_code=2)


def test_a_service_without_an_administrator_says_how_to_get_one(database: str) -> None:
    import subprocess
    import sys

    process = subprocess.Popen(
        [sys.executable, "-m", "postroom", "serve", "--db", database, "--port", "0", "--access", "on"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
    finally:
        process.terminate()
        _, said = process.communicate(timeout=30)
    assert f"postroom keys create NAME --grant admin:/ --at {database}" in said


def test_a_link_has_the_key_of_the_other_end_by_reference_and_sends_it_there_only(
    run: Output, service: str, root: str, tmp_path: Path
) -> None:
    made = httpx.put(f"{service}/messagegroups/fleet", json={}, headers={"Authorization": f"Bearer {root}"})
    assert made.status_code == 201
    reader = run.of("keys", "create", "partner", "--grant", "read:/", "--at", service, "--key", root)
    copy = f"sqlite:///{tmp_path}/copy.db"
    own = run.of("keys", "create", "root", "--grant", "admin:/", "--at", copy)
    environment = {"POSTROOM_LINK_HOSTS": "127.0.0.1", "LINK_KEY_PARTNER": reader}
    with serving(copy, "--access", "on", **environment) as (_, url):
        add = ("links", "add", "partner", service, "--mode", "pull", "--key", own, "--at", url, "--remote-key")
        assert "by reference" in run.of(*add, reader, exit_code=3)
        assert "LINK_KEY_" in run.of(*add, "env:POSTROOM_DB", exit_code=3)
        run.of(*add, "env:LINK_KEY_PARTNER")
        wait_until(lambda: "fleet" in run.of("dump", "--from", url, "--key", own))
        (shown,) = json.loads(run.of("links", "list", "--json", "--at", url, "--key", own)).values()
        assert shown["key"] == "env:LINK_KEY_PARTNER"
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("copy.db*"))
    assert reader.rpartition("_")[2].encode() not in kept


def test_the_password_of_the_database_is_not_in_what_the_service_says(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(database) as store:
        check_access(Settings(access="on", db="postgresql://ann:s3cret@db.example/catalog"), store)
    assert capsys.readouterr().err.endswith("--at postgresql://db.example/catalog\n")


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"ACTOR_HEADER": "X-User", "TRUSTED_PROXIES": "*"}, "trusted_proxies: with access on, everybody could say"),
        ({"OIDC_CLIENT_ID": "web"}, "oidc_client_id: nobody can sign in with a browser without an OpenID provider"),
        ({"OIDC_ISSUER": "https://id.example"}, "oidc_audience: tokens for others must not count"),
    ],
)
def test_settings_by_which_the_wrong_people_could_come_in_are_refused_in_a_sentence(
    run: Output, database: str, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sentence: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"POSTROOM_{name}", value)
    said = run.of("serve", "--db", database, "--port", "0", "--access", "on", exit_code=2)
    assert f"postroom: {sentence}" in said
