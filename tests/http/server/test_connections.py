"""What a client can put on the wire, byte by byte, against a real server: always an answer, never a hang."""

from __future__ import annotations

import http.client
import io
import json
import select
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import pytest

from tests.http.running_service import serving

LARGE, LARGE_SIZE = "/schemagroups/large/schemas/large", 6_000_000
CLOSE = b"Host: ovens.localhost\r\nConnection: close\r\n"
UPGRADE = (
    b"Host: ovens.localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
)
GROUP = b"/messagegroups/wired"


class Answer(msgspec.Struct, frozen=True):
    """One answer as it came off the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def detail(self) -> str:
        return str(json.loads(self.body).get("args", {}).get("error_detail", ""))

    @property
    def problem(self) -> str:
        document = json.loads(self.body)
        assert self.headers["content-type"] == "application/json; charset=utf-8"
        assert (document["status"], int(self.headers["content-length"])) == (self.status, len(self.body))
        return str(document["type"]).rpartition("#")[2]


def get(target: bytes, headers: bytes = CLOSE, version: bytes = b"HTTP/1.1") -> bytes:
    return b"GET %b %b\r\n%b\r\n" % (target, version, headers)


def put(headers: bytes, body: bytes = b"", target: bytes = GROUP) -> bytes:
    return b"PUT %b HTTP/1.1\r\n%b%b\r\n%b" % (target, CLOSE, headers, body)


def exchange(service: str, *pieces: bytes, ends: bool = False, pause_s: float = 0.02) -> list[Answer]:
    """Everything the server says until it closes the connection."""
    address = urlsplit(service)
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        for number, piece in enumerate(pieces):
            if number:
                time.sleep(pause_s)
            connection.sendall(piece)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        return list(_answers(b"".join(iter(lambda: connection.recv(65536), b""))))


class _Bytes:
    def __init__(self, stream: io.BytesIO) -> None:
        self._stream = stream

    def makefile(self, _: str) -> io.BytesIO:
        return self._stream


class _Shared(io.BytesIO):
    def close(self) -> None:
        """One answer is over, not the stream."""


def _answers(received: bytes) -> Iterator[Answer]:
    stream = _Shared(received)
    while stream.tell() < len(received):
        response = http.client.HTTPResponse(_Bytes(stream))  # type: ignore[arg-type]  # all it takes of a socket
        response.begin()
        yield Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())


REQUESTS: list[tuple[str, bytes, int, str]] = [
    ("less than", get(b"/messagegroups?filter=epoch<5"), 200, ""),
    ("greater than", get(b"/messagegroups?filter=epoch>=0"), 200, ""),
    ("all that URLs have not", get(b'/messagegroups?filter=name="<>{|}\\^`'), 200, ""),
    ("bare UTF-8", get("/messagegroups?filter=name=Bröd".encode()), 200, ""),
    ("bare UTF-8 in a path", get("/messagegroups/Bröd".encode()), 400, "malformed_id"),
    ("no UTF-8", get(b"/messagegroups/\xff\xfe"), 404, "api_not_found"),
    ("no UTF-8 in a query", get(b"/messagegroups?filter=name=\xff\xfe"), 200, ""),
    ("a fragment", get(b"/messagegroups#x"), 404, "not_found"),
    ("NUL in the target", get(b"/a\x00b"), 400, "bad_request"),
    ("control in the target", get(b"/a\x01b"), 400, "bad_request"),
    ("tab in the target", get(b"/a\tb"), 400, "bad_request"),
    ("DEL in the target", get(b"/a\x7fb"), 400, "bad_request"),
    ("space in the target", get(b"/a b"), 400, "bad_request"),
    ("no target", get(b""), 400, "bad_request"),
    ("relative target", get(b"messagegroups"), 400, "bad_request"),
    ("long target", get(b"/" + b"x" * 1_000_000), 414, "bad_request"),
    ("long query", get(b"/?" + b"x" * 1_000_000), 414, "bad_request"),
    ("target within limits", get(b"/messagegroups/" + b"x" * 60_000), 400, "malformed_id"),
    ("absolute target", get(b"http://other.localhost/messagegroups"), 200, ""),
    ("absolute target without a path", get(b"http://other.localhost"), 200, ""),
    ("absolute target with a user", get(b"http://u:p@other.localhost/"), 400, "bad_request"),
    ("absolute target of another kind", get(b"ftp://other.localhost/x"), 404, "not_found"),
    ("star", get(b"*"), 404, "not_found"),
    ("options of a star", b"OPTIONS * HTTP/1.1\r\n" + CLOSE + b"\r\n", 404, "not_found"),
    ("long header", get(b"/", CLOSE + b"X: " + b"x" * 1_000_000 + b"\r\n"), 431, "bad_request"),
    ("many headers", get(b"/", CLOSE + b"X: y\r\n" * 100_000), 431, "bad_request"),
    ("many empty headers", get(b"/", CLOSE + b"a:\r\n" * 8_000), 431, "bad_request"),
    ("some empty headers", get(b"/", CLOSE + b"a:\r\n" * 2_000), 200, ""),
    ("header within limits", get(b"/", CLOSE + b"X: " + b"x" * 100_000 + b"\r\n"), 200, ""),
    ("bytes beyond ASCII in a header", get(b"/", CLOSE + b"X: \xff\xfe\r\n"), 200, ""),
    ("NUL in a header", get(b"/", CLOSE + b"X: a\x00b\r\n"), 400, "bad_request"),
    ("control in a header", get(b"/", CLOSE + b"X: a\x01b\r\n"), 400, "bad_request"),
    ("DEL in a header", get(b"/", CLOSE + b"X: a\x7fb\r\n"), 400, "bad_request"),
    ("CR in a header", get(b"/", CLOSE + b"X: a\rb\r\n"), 400, "bad_request"),
    ("LF in a header", get(b"/", CLOSE + b"X: a\nY: b\r\n"), 400, "bad_request"),
    ("folded header", get(b"/", CLOSE + b"X: a\r\n b\r\n"), 400, "bad_request"),
    ("space in a name", get(b"/", CLOSE + b"X Y: a\r\n"), 400, "bad_request"),
    ("space before the colon", get(b"/", CLOSE + b"X : a\r\n"), 400, "bad_request"),
    ("name beyond ASCII", get(b"/", CLOSE + b"\xff: a\r\n"), 400, "bad_request"),
    ("no name", get(b"/", CLOSE + b": a\r\n"), 400, "bad_request"),
    ("no colon", get(b"/", CLOSE + b"abc\r\n"), 400, "bad_request"),
    ("bare LF", get(b"/").replace(b"\r\n", b"\n"), 400, "bad_request"),
    ("bare CR", get(b"/").replace(b"\r\n", b"\r"), 400, "bad_request"),
    ("empty lines first", b"\r\n\r\n" + get(b"/"), 200, ""),
    ("no host", get(b"/", b"Connection: close\r\n"), 400, "bad_request"),
    ("two hosts", get(b"/", CLOSE + b"Host: other.localhost\r\n"), 400, "bad_request"),
    ("empty host", get(b"/", b"Host:\r\nConnection: close\r\n"), 200, ""),
    ("wrong host", get(b"/", b"Host: a b\r\nConnection: close\r\n"), 400, "bad_request"),
    ("HTTP/1.0", get(b"/", b"", b"HTTP/1.0"), 200, ""),
    ("HTTP/0.9", b"GET /\r\n\r\n", 505, "bad_request"),
    ("HTTP/2.0", get(b"/", CLOSE, b"HTTP/2.0"), 505, "bad_request"),
    ("HTTP/9.9", get(b"/", CLOSE, b"HTTP/9.9"), 400, "bad_request"),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "bad_request"),
    ("another protocol", get(b"/", CLOSE, b"SIP/2.0"), 400, "bad_request"),
    ("unknown method", get(b"/messagegroups").replace(b"GET", b"BREW", 1), 405, "action_not_supported"),
    ("lower-case method", get(b"/messagegroups").replace(b"GET", b"get", 1), 405, "action_not_supported"),
    ("longer method", get(b"/messagegroups").replace(b"GET", b"GETS", 1), 405, "action_not_supported"),
    ("unknown method with a body", b"BREW / HTTP/1.1\r\n" + CLOSE + b"Content-Length: 2\r\n\r\n{}", 405, ""),
    ("method that is no word", get(b"/").replace(b"GET", b"G(T", 1), 400, "bad_request"),
    ("endless method", b"X" * 1_000_000, 400, "bad_request"),
    ("connect", get(b"ovens.localhost:443").replace(b"GET", b"CONNECT", 1), 404, "not_found"),
    ("trace", get(b"/").replace(b"GET", b"TRACE", 1), 405, "action_not_supported"),
    ("two lengths", put(b"Content-Length: 2\r\nContent-Length: 3\r\n", b"{}"), 400, "bad_request"),
    ("length and chunks", put(b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"{}"), 400, "bad_request"),
    ("negative length", put(b"Content-Length: -2\r\n", b"{}"), 400, "bad_request"),
    ("endless length", put(b"Content-Length: 99999999999999999999999\r\n", b"{}"), 400, "bad_request"),
    ("length in words", put(b"Content-Length: two\r\n", b"{}"), 400, "bad_request"),
    ("chunk of no size", put(b"Transfer-Encoding: chunked\r\n", b"zz\r\n{}\r\n0\r\n\r\n"), 400, "bad_request"),
    (
        "chunk of less than nothing",
        put(b"Transfer-Encoding: chunked\r\n", b"-2\r\n{}\r\n0\r\n\r\n"),
        400,
        "bad_request",
    ),
    (
        "chunk longer than it says",
        put(b"Transfer-Encoding: chunked\r\n", b"2\r\n{}{}\r\n0\r\n\r\n"),
        400,
        "bad_request",
    ),
    ("endless chunk", put(b"Transfer-Encoding: chunked\r\n", b"f" * 18 + b"\r\n{}"), 400, "bad_request"),
    ("unknown transfer coding", put(b"Transfer-Encoding: gzip\r\n", b"{}"), 400, "bad_request"),
    ("TLS", b"\x16\x03\x01" + b"\x00" * 50, 400, "bad_request"),
    ("nothing but NUL", b"\x00" * 5000, 400, "bad_request"),
    ("a method alone", b"GET\r\n\r\n", 400, "bad_request"),
]


@pytest.mark.parametrize(("request_", "status", "problem"), [row[1:] for row in REQUESTS], ids=[r[0] for r in REQUESTS])
def test_every_request_is_answered(
    client: httpx.Client, service: str, request_: bytes, status: int, problem: str
) -> None:
    (answer,) = exchange(service, request_)
    assert answer.status == status
    assert answer.headers["connection"] == "close"
    assert "server" not in answer.headers
    assert answer.status < 400 or not problem or answer.problem == problem
    assert client.get("/messagegroups").json() == {}


def test_a_refusal_says_why_and_where(service: str) -> None:
    (answer,) = exchange(service, get(b"/messagegroups", b"Connection: close\r\n"))
    document = json.loads(answer.body)
    assert (document["subject"], answer.detail) == ("/messagegroups", "there has to be exactly one Host header")
    assert answer.headers["link"] == f"<{service}>;rel=xregistry-root"


def test_the_address_in_the_request_line_counts_more_than_the_header(service: str) -> None:
    (answer,) = exchange(service, get(b"http://other.localhost:81/"))
    assert json.loads(answer.body)["self"] == "http://other.localhost:81/"


def test_trailers_are_no_headers(client: httpx.Client, service: str) -> None:
    chunks = b'2\r\n{}\r\n0\r\nIf-Match: "never"\r\nX-Forwarded-Host: evil.example\r\n\r\n'
    (answer,) = exchange(service, put(b"Transfer-Encoding: chunked\r\n", chunks))
    assert answer.status == 201
    assert b"ovens.localhost" in answer.body


def test_a_request_may_come_in_any_pieces(service: str) -> None:
    request = put(b"Content-Length: 14\r\n", b'{"name":"slow"}'[:14])
    whole = put(b"Content-Length: 15\r\n", b'{"name":"slow"}')
    (answer,) = exchange(service, *(whole[n : n + 1] for n in range(len(whole))), pause_s=0.001)
    assert answer.status in (200, 201)
    (answer,) = exchange(service, request[:20], request[20:])
    assert answer.problem == "parsing_data"


def test_answers_keep_the_order_of_their_requests(client: httpx.Client, service: str) -> None:
    kept = b"Host: ovens.localhost\r\n"
    several = [get(b"/messagegroups", kept), get(b"/nowhere", kept), get(b"/model", kept)]
    answers = exchange(service, b"".join(several) + get(b"/messagegroups/none"))
    assert [answer.status for answer in answers] == [200, 404, 200, 404]
    assert "connection" not in answers[0].headers


@pytest.mark.parametrize(
    "last",
    [
        b"\x00garbage\r\n\r\n",
        get(b"/", b""),
        get(b"/a b"),
        b"PUT " + GROUP + b" HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    ],
    ids=["garbage", "no host", "no HTTP", "bad chunk"],
)
def test_what_came_before_a_bad_request_is_answered_first(client: httpx.Client, service: str, last: bytes) -> None:
    answers = exchange(service, get(b"/model", b"Host: ovens.localhost\r\n") * 3 + last)
    assert [answer.status for answer in answers] == [200, 200, 200, 400]
    assert answers[-1].problem == "bad_request"
    assert client.get("/messagegroups").json() == {}


def test_a_client_that_sends_no_more_still_gets_its_answer(client: httpx.Client, service: str) -> None:
    body = b"Host: ovens.localhost\r\nContent-Length: 2\r\n\r\n{}"
    (answer,) = exchange(service, b"PUT " + GROUP + b" HTTP/1.1\r\n" + body, ends=True)
    assert answer.status == 201


def test_an_offer_to_speak_another_protocol_is_declined(client: httpx.Client, service: str) -> None:
    body = b'{"name":"Java"}'
    offer = b"PUT " + GROUP + b" HTTP/1.1\r\n" + UPGRADE + b"Content-Length: 15\r\n\r\n"
    plain, websocket = get(b"/", UPGRADE), get(b"/", UPGRADE.replace(b"h2c", b"websocket"))
    answers = exchange(service, offer + body[:5], body[5:] + plain + websocket + get(GROUP))
    assert [answer.status for answer in answers] == [201, 200, 200, 200]
    assert json.loads(answers[-1].body)["name"] == "Java"


def test_a_body_that_is_too_large_is_refused_while_it_comes(service: str) -> None:
    size = 40_000_000
    (answer,) = exchange(service, put(b"Content-Length: %d\r\n" % size, b" " * size))
    assert (answer.status, answer.problem) == (413, "bad_request")


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("hasty")
    with serving(f"sqlite:///{folder}/registry.db", POSTROOM_UPLOAD_TIMEOUT_S="0.5") as (_, url):
        yield url


@pytest.mark.parametrize(
    ("sent", "detail"),
    [
        (b"", None),
        (b"GET", "the head of the request took too long"),
        (b"GET / HTTP/1.1\r\nHost: ovens", "the head of the request took too long"),
        (b"PUT " + GROUP + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", "the body took too long"),
    ],
)
def test_nobody_keeps_the_server_waiting(hasty: str, sent: bytes, detail: str | None) -> None:
    answers: list[Any] = exchange(hasty, sent)
    assert [(answer.status, answer.detail) for answer in answers] == ([] if detail is None else [(408, detail)])


def test_a_head_that_never_ends_is_refused_though_it_keeps_coming(hasty: str) -> None:
    (answer,) = exchange(hasty, b"GET / HTTP/1.1\r\nHost: localhost\r\n", *[b"X: y\r\n"] * 40, pause_s=0.02)
    assert answer.status == 408


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with a document of 6 MB that waits for readers, but not for long."""
    folder: Path = tmp_path_factory.mktemp("impatient")
    with serving(f"sqlite:///{folder}/registry.db", POSTROOM_SEND_TIMEOUT_S="2") as (_, url):
        headers = {"xRegistry-format": "Text/1"}
        put = httpx.put(f"{url}{LARGE}", content=b"x" * LARGE_SIZE, headers=headers, timeout=60)
        assert put.status_code == 201, put.text
        yield url


def asking(url: str, request: bytes) -> socket.socket:
    where = urlsplit(url)
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 * 1024)
    made.settimeout(60)
    made.connect((where.hostname, where.port))
    made.sendall(request)
    return made


@pytest.mark.parametrize("times", [1, 5], ids=["one request", "requests in a row"])
@pytest.mark.parametrize("ends", [CLOSE, b"Host: ovens.localhost\r\n"], ids=["close", "keep alive"])
def test_a_client_that_does_not_read_its_answer_is_dropped(impatient: str, times: int, ends: bytes) -> None:
    with asking(impatient, get(LARGE.encode(), ends) * times) as never_reading:
        gone = select.poll()
        gone.register(never_reading, 0)  # tells nothing but an end
        assert gone.poll(20_000), "the service is still there for somebody who never reads"
        assert httpx.get(f"{impatient}/healthz").status_code == 200


def test_a_client_that_reads_slowly_gets_its_answer(impatient: str) -> None:
    with asking(impatient, get(LARGE.encode())) as slow:
        size = 0
        while piece := slow.recv(96 * 1024):
            size += len(piece)
            time.sleep(0.03)
    assert size > LARGE_SIZE


def test_a_client_that_hangs_up_is_no_error_of_the_service(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with serving(f"sqlite:///{tmp_path}/registry.db", log=log) as (_, url):
        address = urlsplit(url)
        for number in range(40):
            with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # no farewell
                connection.sendall(
                    get(b"/model", b"Host: ovens.localhost\r\n") * 3 + put(b"Content-Length: 2\r\n", b"{}")
                )
                time.sleep(number % 2 / 100)
        assert httpx.get(f"{url}/model", headers={"Host": "ovens.localhost"}).status_code == 200
    assert "Exception" not in log.read_text()
