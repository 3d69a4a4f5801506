"""A seeded share of the fuzzing of the raw HTTP surface; `make long` sends 100,000 requests with a new seed."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.endurance.fuzz import Fuzzer, Trial
from tests.endurance.fuzz_run import Reply, fuzz_services, parse_replies
from tests.postgres import Postgres

REQUESTS = 1_000


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_request_brings_a_500_or_silence(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server: Postgres | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
    databases = (server.registry() if server else f"sqlite:///{tmp_path}/{n}.db" for n in itertools.count())
    tally = fuzz_services(REQUESTS, kind, tmp_path, databases)
    assert [finding.what for finding in tally.findings] == []
    assert tally.trials == REQUESTS
    assert {200, 201, 204, 400, 404, 405} <= set(tally.statuses), "some requests are good, some are not"


def test_a_seed_gives_the_same_requests_again() -> None:
    def first(seed: str) -> list[Trial]:
        return list(itertools.islice(Fuzzer(seed).trials(), 200))

    assert first("a") == first("a")
    assert first("a") != first("b")


def test_answers_are_told_apart_whatever_they_are_to() -> None:
    no_body = b"HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\n"
    found = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    chunks = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    assert list(parse_replies(no_body + found + chunks + found)) == [
        Reply(404, b""),
        Reply(200, b"{}"),
        Reply(200, b"2\r\n{}\r\n0\r\n\r\n"),
        Reply(200, b"{}"),
    ]
    with pytest.raises(ValueError, match="Internal"):
        list(parse_replies(b"Internal Server Error"))
