from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from postroom.errors import BadSetting
from postroom.http.server.allowed_hosts import AllowedHosts
from postroom.http.server.app import create_app
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient
from tests.http.running_service import serving

ANYWHERE = "0.0.0.0"  # noqa: S104
HERE = ("localhost", "LocalHost.", "ovens.localhost", "127.0.0.1", "127.8.9.10", "[::1]", "[0:0:0:0:0:0:0:1]")
ELSEWHERE = (
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evillocalhost",
    "127.1",
    "0x7f.0.0.1",
    "10.0.0.7",
    ANYWHERE,
    "[::]",
    "[fe80::1]",
)


def allows(settings: Settings, host: str) -> bool:
    try:
        AllowedHosts(settings).require(host)
    except RegistryProblem as problem:
        return problem.status != 421
    return True


@pytest.mark.parametrize("listens", ["127.0.0.1", "::1", "localhost"])
@pytest.mark.parametrize("port", ["", ":8080", ":1"])
def test_on_loopback_only_names_of_this_machine_are_answered(listens: str, port: str) -> None:
    settings = Settings(host=listens)
    assert [host for host in HERE if not allows(settings, host + port)] == []
    assert [host for host in ELSEWHERE if allows(settings, host + port)] == []
    assert allows(settings, ""), "HTTP/1.0 needs no Host, and no web page can leave it out"


@pytest.mark.parametrize(
    ("listens", "named", "host", "allowed"),
    [
        ("127.0.0.1", ("registry.example",), "registry.example:8443", True),
        ("127.0.0.1", ("Registry.Example.",), "registry.EXAMPLE", True),
        ("127.0.0.1", ("registry.example",), "localhost", True),
        ("127.0.0.1", ("registry.example",), "other.registry.example", False),
        ("127.0.0.1", ("*.example",), "other.registry.example", True),
        ("127.0.0.1", ("*.example",), "example", False),
        ("127.0.0.1", ("*.example",), "evilexample", False),
        ("127.0.0.1", ("*",), "evil.example", True),
        ("127.0.0.1", ("10.0.0.7",), "10.0.0.7:80", True),
        ("127.0.0.1", ("[2001:db8:0::7]",), "[2001:db8::7]:80", True),
        ("127.0.0.1", ("2001:db8::7",), "[2001:DB8::7]", True),
        (ANYWHERE, (), "anything.example", True),
        (ANYWHERE, (), "10.0.0.7", True),
        (ANYWHERE, ("registry.example",), "registry.example", True),
        (ANYWHERE, ("registry.example",), "10.0.0.7", False),
        (ANYWHERE, ("registry.example",), "localhost", False),
    ],
)
def test_the_setting_names_more_hosts_and_is_all_there_is_beyond_loopback(
    listens: str, named: tuple[str, ...], host: str, allowed: bool
) -> None:
    assert allows(Settings(host=listens, allowed_hosts=named), host) == allowed


@pytest.mark.parametrize("name", ["https://a.example", "a.example:80", "a b", "a.example/x", "*a", "a.*.example", ""])
def test_what_is_no_name_of_a_host_is_a_bad_setting(name: str) -> None:
    with pytest.raises(BadSetting, match="allowed_hosts"):
        AllowedHosts(Settings(allowed_hosts=(name,)))


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "BREW"])
@pytest.mark.parametrize("path", ["/", "/messagegroups", "/healthz", "/%2D/healthz", "/subscriptions", "/nothing/here"])
def test_a_page_that_gives_its_name_to_this_machine_gets_nothing(asgi: AsgiClient, method: str, path: str) -> None:
    asgi.ask("GET", path)  # so that an answer is kept
    origin = {"Origin": "http://evil.example:8080", "X-Forwarded-Host": "localhost"}
    reply = asgi.ask(method, path, b"{}", origin, host=b"evil.example:8080")
    assert reply.status == 421
    if method != "HEAD":
        assert reply.problem == "bad_request"
        assert "evil.example" in reply.json["title"]
    assert asgi.ask("GET", "/messagegroups").json == {}


@pytest.mark.parametrize("path", ["/-/healthz", "/-/readyz"])
def test_those_who_look_after_the_process_may_know_only_its_address(asgi: AsgiClient, path: str) -> None:
    assert asgi.ask("GET", path, host=b"10.0.0.7:8080").status == 200


def test_a_trusted_proxy_passes_on_allowed_names_only_and_does_not_hide_the_host(store: Store) -> None:
    settings = Settings(trusted_proxies=("127.0.0.1",), allowed_hosts=("registry.example",))
    asgi = AsgiClient(create_app(store, settings))

    def status(host: bytes, forwarded: str) -> int:
        return asgi.ask("GET", "/", headers={"X-Forwarded-Host": forwarded}, host=host, peer="127.0.0.1").status

    assert status(b"127.0.0.1:8080", "registry.example") == 200
    assert status(b"registry.example", "registry.example") == 200
    assert status(b"127.0.0.1:8080", "evil.example") == 421
    assert status(b"evil.example", "registry.example") == 421


@pytest.mark.parametrize(
    ("line", "host", "status"),
    [
        ("GET / HTTP/1.1", "evil.example", 421),
        ("GET http://evil.example/ HTTP/1.1", "localhost", 421),
        ("GET http://localhost/ HTTP/1.1", "evil.example", 200),
        ("GET / HTTP/1.0", "", 200),
        ("GET / HTTP/1.0", "evil.example", 421),
        ("GET http://evil.example/ HTTP/1.0", "", 421),
    ],
)
def test_requests_of_every_form_over_a_socket(service: str, line: str, host: str, status: int) -> None:
    """What an absolute target names is what counts, whatever Host says (RFC 9112 3.2.2)."""
    head = f"{line}\r\n" + (f"Host: {host}\r\n" if host else "") + "Connection: close\r\n\r\n"
    where = urlsplit(service)
    with socket.create_connection((where.hostname, where.port), timeout=30) as asking:
        asking.sendall(head.encode())
        assert int(asking.makefile("rb").readline().split()[1]) == status


def test_several_processes_start_where_only_one_name_is_allowed(tmp_path: Path) -> None:
    """The first request, which waits for a process that answers, comes by address."""
    command = ("--workers", "2", "--host", ANYWHERE, "--insecure")
    database = f"sqlite:///{tmp_path}/registry.db"
    with serving(database, *command, listens=ANYWHERE, POSTROOM_ALLOWED_HOSTS="registry.example") as (_, url):
        assert url.startswith("http://0.0.0.0:")
