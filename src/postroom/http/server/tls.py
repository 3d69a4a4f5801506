"""TLS without a proxy: certificate and key from files, read anew when they change."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from typing import Any

from postroom.errors import BadFlag
from postroom.settings import Settings

LOG = logging.getLogger("postroom.http")
HEADERS = [("Strict-Transport-Security", "max-age=31536000")]
Stamp = tuple[tuple[int, int, int], ...]


def check_files(settings: Settings) -> None:
    """Refuse files that no server can use, before anything listens."""
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise BadFlag("a certificate and its key go together.", place="--tls-cert", remedy="Give --tls-key as well.")
    if settings.tls_cert:
        try:
            _load(settings.tls_cert, settings.tls_key)
        except OSError as error:
            raise BadFlag(
                f"{settings.tls_cert} and {settings.tls_key} cannot be used: {_reason(error)}.",
                place="--tls-cert",
                remedy="Name a certificate (chain) and its private key, both in PEM and without a password.",
            ) from None


def certificate_context(cert: str, key: str, *_: object) -> ssl.SSLContext:
    """A context for uvicorn whose handshakes use the files as they are at that time."""
    return _Certificate(cert, key).context


class _Certificate:
    """The files as they were read last. While new ones cannot be used, the old ones go on."""

    def __init__(self, cert: str, key: str) -> None:
        self._files = (cert, key)
        self._stamp = self._stat()
        self._current = self.context = _load(cert, key)
        self.context.sni_callback = self._choose  # called for every handshake, also for those that name no server

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _context: Any) -> None:
        try:
            stamp = self._stat()
            if stamp != self._stamp:
                self._stamp = stamp
                self._current = _load(*self._files)
                LOG.info("the certificate %s was read anew", self._files[0])
        except OSError as error:
            LOG.error("%s: the old certificate goes on: %s", self._files[0], _reason(error))  # noqa: TRY400
        connection.context = self._current

    def _stat(self) -> Stamp:
        found = (Path(file).stat() for file in self._files)
        return tuple((one.st_mtime_ns, one.st_size, one.st_ino) for one in found)


def _load(cert: str, key: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(cert, key, password=_no_password)
    return context


def _no_password() -> str:
    """A key with a password would make the server ask at the terminal."""
    raise OSError("the key has a password")


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return (error.reason or "it is no PEM").replace("_", " ").lower()
    return (error.strerror or str(error)).lower()
