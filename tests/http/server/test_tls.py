"""HTTPS served directly: the files, what they are refused for, and new ones without a restart."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from postroom.errors import BadFlag
from postroom.http.server.tls import check_files
from postroom.settings import Settings
from tests.absence import absent
from tests.http.running_service import serving


def certificate(folder: Path, name: str, *more: str) -> tuple[str, str]:
    """A new certificate for localhost and its key."""
    if shutil.which("openssl") is None:
        absent("openssl", "the tests of TLS did not run (Debian: openssl)")
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2",
         "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", *(more or ("-nodes",)),
         "-keyout", str(key), "-out", str(cert)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return str(cert), str(key)


def presented(url: str) -> bytes:
    """The certificate that the server shows."""
    host, port = url.removeprefix("https://").split(":")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((host, int(port)), timeout=10) as plain, context.wrap_socket(plain) as secured:
        return secured.getpeercert(binary_form=True) or b""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_https_is_served_with_the_certificate_as_it_is_now(tmp_path: Path, workers: str) -> None:
    cert, key = certificate(tmp_path, "first")
    database = f"sqlite:///{tmp_path}/registry.db"
    flags = ("--tls-cert", cert, "--tls-key", key, "--workers", workers)
    with serving(database, *flags, scheme="https") as (_, url):
        with httpx.Client(verify=ssl.create_default_context(cafile=cert)) as client:
            answer = client.get(url)
            assert (answer.status_code, answer.json()["self"]) == (200, url + "/")
            assert answer.headers["strict-transport-security"] == "max-age=31536000"
            assert client.put(f"{url}/messagegroups/ovens", json={}).status_code == 201
        before = presented(url)

        Path(key).write_text("no key")
        assert presented(url) == before, "files that cannot be used leave the old ones in force"

        for new, old in zip(certificate(tmp_path, "second"), (cert, key), strict=True):
            Path(new).replace(old)
        with httpx.Client(verify=ssl.create_default_context(cafile=cert)) as client:
            assert client.get(f"{url}/messagegroups/ovens").status_code == 200
        assert presented(url) != before


def test_what_is_no_http_is_refused_over_tls_too(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, "first")
    flags = ("--tls-cert", cert, "--tls-key", key)
    with serving(f"sqlite:///{tmp_path}/registry.db", *flags, scheme="https") as (_, url):
        host, port = url.removeprefix("https://").split(":")
        context = ssl.create_default_context(cafile=cert)
        with (
            socket.create_connection((host, int(port)), timeout=10) as plain,
            context.wrap_socket(plain, server_hostname=host) as secured,
        ):
            secured.sendall(b"no http\r\n\r\n")
            assert secured.recv(65536).startswith(b"HTTP/1.1 400 ")
        with socket.create_connection((host, int(port)), timeout=10) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" not in plain.recv(65536)
        assert httpx.get(f"{url}/healthz", verify=context).status_code == 200


def test_files_that_no_server_can_use_are_refused_in_a_sentence(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, "first")
    _, other = certificate(tmp_path, "second")
    _, locked = certificate(tmp_path, "third", "-passout", "pass:secret")
    text = tmp_path / "text.pem"
    text.write_text("no certificate")
    check_files(Settings())
    check_files(Settings(tls_cert=cert, tls_key=key))
    for given, reason in [
        (("", key), "go together"),
        ((cert, ""), "go together"),
        ((cert, other), "key values mismatch"),
        ((cert, locked), "the key has a password"),
        ((str(text), key), "no PEM|no start line|pem"),
        ((cert, str(tmp_path / "nothing")), "no such file"),
    ]:
        with pytest.raises(BadFlag, match=reason):
            check_files(Settings(tls_cert=given[0], tls_key=given[1]))
