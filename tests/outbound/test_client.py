"""The client of outgoing requests, over both of its transports: hosts, time, size, redirects, proxies."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import msgspec
import pytest

from postroom.outbound.client import Fetcher, HttpClient
from postroom.outbound.policy import (
    AnswerTooLarge,
    AnswerTooSlow,
    FetchRefused,
    NoAnswer,
    OutboundPolicy,
    PrivateAddress,
    TooManyRedirects,
    UrlRefused,
)


class Documents(BaseHTTPRequestHandler):
    """Serves a small, a large, a slow and a moved document."""

    def do_GET(self) -> None:
        if self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", {"/moved": "/small", "/moved-away": "http://elsewhere.example/"}[self.path])
            self.end_headers()
            return
        if self.path == "/slow-head":
            time.sleep(0.25)
        self.send_response(200 if self.path != "/gone" else 404)
        self.end_headers()
        if self.path == "/slow":
            time.sleep(1)
        if self.path == "/slow-head":
            time.sleep(0.25)
        self.wfile.write(b"x" * (2000 if self.path == "/large" else 5))

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Documents) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{running.server_port}"
        running.shutdown()


LIMITED = OutboundPolicy(timeout_s=0.3, answer_s=0.3, max_bytes=1000)
Addresses = Literal["any", "pinned"]
BOTH = pytest.mark.parametrize("addresses", ["any", "pinned"])


@pytest.mark.parametrize("allowed", ["127.0.0.1", "host and port"])
def test_a_named_host_is_asked(server: str, allowed: str) -> None:
    hosts = (server if allowed == "host and port" else allowed,)
    assert Fetcher(OutboundPolicy(hosts=hosts))(f"http://{server}/small") == b"xxxxx"


@pytest.mark.parametrize(("path", "words"), [("large", "larger"), ("slow", "slow"), ("moved", "302"), ("gone", "404")])
def test_a_document_that_is_too_large_slow_moved_or_gone_is_refused(server: str, path: str, words: str) -> None:
    with pytest.raises(FetchRefused, match=words):
        Fetcher(msgspec.structs.replace(LIMITED, hosts=(server,)))(f"http://{server}/{path}")


def test_no_host_is_asked_by_default(server: str) -> None:
    with pytest.raises(FetchRefused, match="allow_fetch"):
        Fetcher(OutboundPolicy())(f"http://{server}/small")


@BOTH
def test_the_limits_hold_over_both_transports(server: str, addresses: Addresses) -> None:
    policy = msgspec.structs.replace(LIMITED, addresses=addresses)
    with closing(HttpClient(policy, f"http://{server}")) as client:
        assert client.request("GET", f"http://{server}/small").body == b"xxxxx"
        assert client.request("GET", f"http://{server}/moved").status == 302
        with pytest.raises(AnswerTooLarge):
            client.request("GET", f"http://{server}/large")
        with pytest.raises((AnswerTooSlow, NoAnswer)):
            client.request("GET", f"http://{server}/slow")
        with pytest.raises(UrlRefused):
            client.request("GET", "http://elsewhere.example/")
        assert client.requests == 4
    with closing(HttpClient(msgspec.structs.replace(policy, truncates=True), f"http://{server}")) as client:
        assert client.request("GET", f"http://{server}/large").body == b"x" * 1000


@BOTH
def test_redirects_are_followed_as_far_as_the_policy_allows(server: str, addresses: Addresses) -> None:
    policy = OutboundPolicy(addresses=addresses, max_redirects=1)
    with closing(HttpClient(policy, f"http://{server}")) as client:
        assert client.request("GET", f"http://{server}/moved").body == b"xxxxx"
        with pytest.raises(UrlRefused, match=r"elsewhere\.example"):
            client.request("GET", f"http://{server}/moved-away")


@BOTH
def test_a_host_where_nobody_listens_gives_no_answer(addresses: Addresses) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    with closing(HttpClient(OutboundPolicy(addresses=addresses), url)) as client, pytest.raises(NoAnswer):
        client.request("GET", url)


@pytest.mark.parametrize(("proxies", "is_asked"), [(True, False), (False, True)])
def test_a_proxy_of_the_environment_is_used_only_where_the_policy_says_so(
    server: str, monkeypatch: pytest.MonkeyPatch, proxies: bool, is_asked: bool
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with closing(HttpClient(OutboundPolicy(proxies=proxies), f"http://{server}")) as client:
        if is_asked:
            assert client.request("GET", f"http://{server}/small").status == 200
        else:
            with pytest.raises(NoAnswer):
                client.request("GET", f"http://{server}/small")


def test_pinned_connections_never_use_a_proxy(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with closing(HttpClient(OutboundPolicy(addresses="pinned"), f"http://{server}")) as client:
        assert client.request("GET", f"http://{server}/small").status == 200


def test_a_private_address_is_not_connected_to_where_only_public_ones_are_allowed(server: str) -> None:
    client = HttpClient(OutboundPolicy(addresses="public"), f"http://{server}")
    with pytest.raises(PrivateAddress):
        client.request("GET", f"http://{server}/small")


def test_a_redirect_to_itself_ends(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Documents, "do_GET", _redirect_to_itself)
    with closing(HttpClient(OutboundPolicy(max_redirects=4), f"http://{server}")) as client:
        with pytest.raises(TooManyRedirects):
            client.request("GET", f"http://{server}/circle")
        assert client.requests == 5


def _redirect_to_itself(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(307)
    handler.send_header("Location", handler.path)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


@BOTH
def test_the_time_of_an_answer_counts_from_the_request_on(server: str, addresses: Addresses) -> None:
    policy = msgspec.structs.replace(LIMITED, timeout_s=5, answer_s=0.4, addresses=addresses)
    with closing(HttpClient(policy, f"http://{server}/")) as client, pytest.raises(AnswerTooSlow):
        client.request("GET", f"http://{server}/slow-head", headers={})
