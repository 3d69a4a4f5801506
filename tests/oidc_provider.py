"""A real OpenID provider (mock-oauth2-server) on a free port, started once per session: import the fixture."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.brokers import free_port
from tests.jars import jars, java

LIBRARY = "no.nav.security:mock-oauth2-server:3.0.1"
PROGRAM = "no.nav.security.mock.oauth2.StandaloneMockOAuth2ServerKt"
START_SECONDS = 60


@contextmanager
def providing(configuration: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Run the provider; the URL whose first path segment names an issuer (`{URL}/staff`), of which there are any."""
    folder, port = jars("the OpenID provider", [LIBRARY]), free_port()
    process = subprocess.Popen(
        [java(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", f"{folder}/*", PROGRAM],
        env={
            **os.environ,
            "SERVER_HOSTNAME": "127.0.0.1",
            "SERVER_PORT": str(port),
            "JSON_CONFIG": json.dumps(configuration or {"interactiveLogin": True}),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process)
        yield url
    finally:
        process.kill()
        process.wait(30)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, "the OpenID provider stopped"
        try:
            if httpx.get(f"{url}/isalive").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError("the OpenID provider does not answer")


@pytest.fixture(scope="session")
def oidc_provider() -> Iterator[str]:
    """The provider with a page where people sign in."""
    with providing() as url:
        yield url
