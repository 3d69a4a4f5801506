"""Object stores that are not Python's: versitygw (S3, strict) where Go is, and azurite (Azure) where Node is.

To get them takes minutes, so only `make long` does (OBJECT_STORES=1).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from socket import create_connection, create_server
from uuid import uuid4

import httpx
import pytest

from tests.absence import absent

VERSITYGW = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
AZURITE = "azurite@3.35.0"
# The account that every emulator of Azure's has; it is published, and opens nothing else.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class OtherStore:
    """A running server: `options` reach it, `place` is a new bucket, or container, in it."""

    def __init__(self, options: dict[str, str], place: str) -> None:
        self.options = options
        self.place = place


@contextmanager
def versitygw(folder: Path) -> Iterator[OtherStore]:
    """Compile the server, and start it; its buckets are folders."""
    _needs("go", "versitygw")
    _run(["go", "install", VERSITYGW], folder, {"GOBIN": str(folder)}, "versitygw")
    bucket = f"lake-{uuid4().hex[:12]}"
    (folder / "buckets" / bucket).mkdir(parents=True)
    port = _free_port()
    keys = {"ROOT_ACCESS_KEY": "bakery", "ROOT_SECRET_KEY": "flour-and-water"}
    command = [str(folder / "versitygw"), "--port", f"127.0.0.1:{port}", "posix", str(folder / "buckets")]
    options = {
        "aws_endpoint_url": f"http://127.0.0.1:{port}",
        "aws_access_key_id": keys["ROOT_ACCESS_KEY"],
        "aws_secret_access_key": keys["ROOT_SECRET_KEY"],
        "aws_region": "us-east-1",
    }
    with _running(command, folder, port, keys):
        yield OtherStore(options, f"s3://{bucket}")


@contextmanager
def azurite(folder: Path) -> Iterator[OtherStore]:
    """Get the server, and start it with a container."""
    _needs("npm", "azurite")
    _run(["npm", "install", "--no-audit", "--no-fund", AZURITE], folder, {}, "azurite")
    port, container = _free_port(), f"lake-{uuid4().hex[:12]}"
    program = folder / "node_modules" / ".bin" / "azurite-blob"
    command = [str(program), "--inMemoryPersistence", "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    options = {
        "azure_storage_account_name": ACCOUNT,
        "azure_storage_account_key": KEY,
        "azure_storage_use_emulator": "true",
    }
    # The libraries are told by a variable where an emulator is.
    with _running([*command, "--skipApiVersionCheck"], folder, port, {}), pytest.MonkeyPatch.context() as patch:
        patch.setenv("AZURITE_BLOB_STORAGE_URL", f"http://127.0.0.1:{port}")
        _make_container(port, container)
        yield OtherStore(options, f"az://{container}")


def _needs(program: str, server: str) -> None:
    if not os.environ.get("OBJECT_STORES"):
        pytest.skip("takes too long for every day: OBJECT_STORES=1, as `make long` says, gets the servers")
    if shutil.which(program) is None:
        absent(program, f"no lake was in {server}")


def _run(command: list[str], folder: Path, environment: dict[str, str], server: str) -> None:
    run = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=900
    )
    if run.returncode != 0:
        absent(server, f"it could not be fetched: {run.stderr[-200:]}")


@contextmanager
def _running(command: list[str], folder: Path, port: int, environment: dict[str, str]) -> Iterator[None]:
    with (folder / "said").open("ab") as said:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | environment, stdout=said, stderr=said)
    try:
        _wait_for(port, process, folder / "said")
        yield
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], said: Path) -> None:
    until = time.monotonic() + 60
    while True:
        assert process.poll() is None, said.read_text()[-2000:]
        assert time.monotonic() < until
        try:
            create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return


def _free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _make_container(port: int, container: str) -> None:
    """Make a container, signed as Azure asks for."""
    path = f"/{ACCOUNT}/{container}"
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-10-04"}
    named = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    text = "PUT" + "\n" * 12 + named + f"/{ACCOUNT}{path}\nrestype:container"
    signature = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)).decode()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{signature}"
    answer = httpx.put(f"http://127.0.0.1:{port}{path}?restype=container", headers=headers, timeout=60)
    assert answer.status_code == 201, answer.text
