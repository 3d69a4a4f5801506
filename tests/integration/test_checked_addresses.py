"""Sinks at brokers: the address that was checked is the one that is connected to, and TLS is with the name."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from postroom.replication.subscriptions.sinks.sink import DeliveryFailed
from postroom.replication.subscriptions.sinks.sink_table import missing_library, open_sink
from postroom.replication.subscriptions.subscription import parse_subscription
from postroom.settings import Settings
from tests.absence import absent
from tests.brokers import Broker
from tests.replication.subscriptions.test_delivery import BASE, SETTINGS

pytestmark = pytest.mark.xdist_group("brokers")

NAME = "broker.example"
ALLOWED = msgspec.structs.replace(SETTINGS, sink_hosts=(NAME,), timeout_s=20.0)
EVENT = {"specversion": "1.0", "id": "1", "source": BASE, "type": "io.xregistry.group.created", "subject": "/x"}
OPTIONS: dict[str, dict[str, Any]] = {
    "KAFKA": {"topicname": "checked"},
    "MQTT3": {"topicname": "checked"},
    "MQTT5": {"topicname": "checked"},
    "NATS": {"subject": "checked"},
    "AMQP": {"address": "checked"},
}
CREDENTIAL = {"credentialtype": "PLAIN", "identifier": "baker", "secret": "p4ss"}
INFO = b'INFO {"server_id":"x","version":"2.10.0","max_payload":1048576,"tls_required":%b}\r\n'


def send(sink: str, protocol: str, settings: Settings, **members: Any) -> None:
    if lacking := missing_library(protocol):
        absent(f"the client for {protocol}", lacking)
    document = {"sink": sink, "protocol": protocol, "protocolsettings": OPTIONS[protocol], **members}
    opened = open_sink(parse_subscription(document, "id", BASE, settings), settings, lambda *_: None)
    try:
        opened.send(EVENT)
    finally:
        opened.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name leads to this machine once, and after that to nowhere: whoever asks twice is lost."""
    found: list[str] = []
    real = socket.getaddrinfo

    def once(host: str, *arguments: Any, **options: Any) -> Any:
        if host != NAME:
            return real(host, *arguments, **options)
        found.append(host)
        if len(found) > 1:
            raise socket.gaierror
        return real("127.0.0.1", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", once)
    return found


@pytest.mark.parametrize("protocol", ["MQTT3", "MQTT5"])
def test_mqtt(mosquitto: Broker, asked: list[str], protocol: str) -> None:
    send(f"mqtt://{NAME}:{mosquitto.port}", protocol, ALLOWED)
    assert asked == [NAME]


def test_nats(nats: Broker, asked: list[str]) -> None:
    send(f"nats://{NAME}:{nats.port}", "NATS", ALLOWED)
    assert asked == [NAME]


def test_amqp(artemis: Broker, asked: list[str]) -> None:
    send(f"amqp://{NAME}:{artemis.port}", "AMQP", ALLOWED)
    assert asked == [NAME]


def test_brokers_of_kafka_that_are_elsewhere_get_nothing(kafka: Broker) -> None:
    """This one says that it is 127.0.0.1, which nobody allowed; `localhost` is, and leads to it."""
    for allowed in (("localhost",), ("localhost", "*.example.com", "127.0.0.1:1")):
        settings = msgspec.structs.replace(ALLOWED, sink_hosts=allowed)
        with pytest.raises(DeliveryFailed, match=r"elsewhere: 127\.0\.0\.1 is not among the hosts") as refused:
            send(f"kafka://localhost:{kafka.port}", "KAFKA", settings)
        assert refused.value.verdict == "refused"
    both = msgspec.structs.replace(ALLOWED, sink_hosts=("localhost", "127.0.0.1"))
    send(f"kafka://localhost:{kafka.port}", "KAFKA", both)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory, system_program: Callable[[str], str]) -> Path:
    folder: Path = tmp_path_factory.mktemp("certificate")
    command = [system_program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={NAME}"]
    files = ["-addext", f"subjectAltName=DNS:{NAME}", "-keyout", folder / "key.pem", "-out", folder / "ca.pem"]
    subprocess.run([*command, *files], check=True, capture_output=True)
    return folder


class Listener:
    """Somebody at a port who may speak TLS: which names he was asked for, and what was said to him."""

    def __init__(self, certificate: Path | None, greeting: bytes) -> None:
        self.names: list[str | None] = []
        self.handshakes = 0
        self.heard = b""
        self._greeting = greeting
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate / "ca.pem", certificate / "key.pem")
            self._context.sni_callback = lambda _socket, name, _context: self.names.append(name)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(20)
                try:
                    self._talk(connection)
                except OSError:
                    continue

    def _talk(self, connection: socket.socket) -> None:
        connection.sendall(self._greeting)
        if self._context is not None:
            connection = self._context.wrap_socket(connection, server_side=True)
            self.handshakes += 1
        self.heard += connection.recv(4096)


@contextmanager
def listening(certificate: Path | None, greeting: bytes = b"") -> Iterator[Listener]:
    listener = Listener(certificate, greeting)
    try:
        yield listener
    finally:
        listener.close()


TLS = [("mqtts", "MQTT3"), ("mqtts", "MQTT5"), ("tls", "NATS"), ("amqps", "AMQP")]


@pytest.mark.parametrize(("scheme", "protocol"), TLS)
def test_tls_is_with_the_name_although_the_connection_is_by_address(
    certificate: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch, scheme: str, protocol: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "ca.pem"))
    with listening(certificate, INFO % b"true" if protocol == "NATS" else b"") as listener:
        with pytest.raises(DeliveryFailed):  # it speaks TLS and nothing else
            send(f"{scheme}://{NAME}:{listener.port}", protocol, msgspec.structs.replace(ALLOWED, timeout_s=3.0))
        assert asked == [NAME]
        assert set(listener.names) == {NAME}
        assert listener.handshakes
        assert listener.heard


@pytest.mark.parametrize(("scheme", "protocol"), [*TLS, ("kafkas", "KAFKA")])
@pytest.mark.parametrize("name", ["other.example", "127.0.0.1"])
def test_a_certificate_for_another_name_is_refused(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, protocol: str, name: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "ca.pem"))
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, *rest, **options: real("127.0.0.1", *rest, **options))
    settings = msgspec.structs.replace(ALLOWED, sink_hosts=(name,), timeout_s=3.0)
    with listening(certificate, INFO % b"true" if protocol == "NATS" else b"") as listener:
        with pytest.raises(DeliveryFailed):
            send(f"{scheme}://{name}:{listener.port}", protocol, settings, sinkcredential=CREDENTIAL)
        assert not listener.heard


@pytest.mark.parametrize(("scheme", "protocol"), [*TLS, ("kafkas", "KAFKA")])
def test_without_tls_nothing_is_said_where_tls_is_asked_for(scheme: str, protocol: str) -> None:
    """A server, or somebody in between, may claim that it has none."""
    settings = msgspec.structs.replace(ALLOWED, sink_hosts=("localhost",), timeout_s=3.0)
    with listening(None, INFO % b"false" if protocol == "NATS" else b"") as listener:
        with pytest.raises(DeliveryFailed):
            send(f"{scheme}://localhost:{listener.port}", protocol, settings, sinkcredential=CREDENTIAL)
        assert b"p4ss" not in listener.heard
        assert not listener.heard.startswith((b"CONNECT", b"\x10", b"AMQP"))
