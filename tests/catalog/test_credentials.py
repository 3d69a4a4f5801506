"""Credentials of the services that commands talk to: which key goes where, and where it is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from postroom.catalog.credentials import NO_KEY, CredentialsFile, authorization_for, resolve_key
from postroom.catalog.service_client import open_client
from postroom.errors import BadSetting
from postroom.settings import Settings, explain_settings

URL = "https://registry.example.com"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def private(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.touch(mode=0o600)
    path.write_text("from-file\n")
    return path


def test_a_key_is_given_as_such_or_by_reference(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_KEY", "from-variable")
    assert resolve_key("itself") == "itself"
    assert resolve_key("env:FLEET_KEY") == "from-variable"
    assert resolve_key(f"file:{private}") == "from-file"


def test_a_reference_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    for reference, reason in (("env:NO_SUCH_KEY", "not set"), (f"file:{tmp_path}/none", "cannot be read")):
        with pytest.raises(BadSetting, match=reason):
            resolve_key(reference)
    with pytest.raises(BadSetting, match="no key"):
        resolve_key("a\nb")


def test_a_file_that_others_may_read_is_refused(private: Path) -> None:
    private.chmod(0o640)
    with pytest.raises(BadSetting, match="others may read this file.*chmod 600"):
        resolve_key(f"file:{private}")


def test_the_setting_goes_before_what_a_login_has_kept() -> None:
    CredentialsFile().put(URL, "kept")
    assert authorization_for(f"{URL}/path", Settings()) == "Bearer kept"
    assert authorization_for(URL, Settings(key="given")) == "Bearer given"
    assert authorization_for(URL, Settings(key="ann:s3cret")) == "Basic YW5uOnMzY3JldA=="
    assert authorization_for(URL, Settings(key=NO_KEY)) == ""


@pytest.mark.parametrize(
    "other",
    [
        "http://registry.example.com",
        "https://registry.example.com:8443",
        "https://example.com",
        "https://registry.example.com.evil.test",
        "https://user:password@registry.example.com",
    ],
)
def test_what_a_login_has_kept_goes_to_that_service_only(other: str) -> None:
    CredentialsFile().put(URL, "kept")
    assert authorization_for(other, Settings()) == ""


def test_only_its_owner_reads_the_file_of_a_login(tmp_path: Path) -> None:
    file = CredentialsFile()
    file.put(URL, "one")
    file.put("https://other.example.com", "two")
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.remove(URL)
    assert not file.remove(URL)
    assert json.loads(file.path.read_text()) == {"https://other.example.com:443": "two"}
    file.path.chmod(0o644)
    with pytest.raises(BadSetting, match="chmod 600"):
        file.get(URL)
    file.path.chmod(0o600)
    file.path.write_text("[]")
    with pytest.raises(BadSetting, match="no file of credentials"):
        file.get(URL)


def test_the_settings_command_does_not_show_a_key() -> None:
    shown = {one.name: one.value for one in explain_settings({"POSTROOM_KEY": "secret"})}
    assert shown["key"] == "…"


@pytest.fixture
def two_hosts() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """A service that leads elsewhere, and what each of the two was sent."""
    seen: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.headers["host"], self.headers["authorization"]))
            elsewhere = self.path == "/leads"
            self.send_response(302 if elsewhere else 200)
            if elsewhere:
                self.send_header("location", f"http://localhost:{self.server.server_address[1]}/there")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", seen
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_key_does_not_follow_a_redirect_to_another_host(
    two_hosts: tuple[str, list[tuple[str, str | None]]],
) -> None:
    url, seen = two_hosts
    with open_client(url, Settings(key="secret", allow_fetch=("localhost",))) as client:
        client.get("/leads")
    assert [(host.partition(":")[0], sent) for host, sent in seen] == [
        ("127.0.0.1", "Bearer secret"),
        ("localhost", None),
    ]
