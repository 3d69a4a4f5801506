"""Kafka as a source, through Spark's own connector: `kafka://host:port[,host:port]/topic[,topic][?option=value&…]`.

In place of topics there may be a pattern, `kafka://host:port/?subscribePattern=REGEX`.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from postroom.catalog.credentials import REFERENCES, resolve_reference
from postroom.errors import BadFlag, LakeRefused, MissingSystem, ServiceUnreachable, SourceUnknown
from postroom.pipeline.sources.lag import Lag, Lags, Reached
from postroom.pipeline.sources.preview import BYTES, ROWS, Part, Preview
from postroom.pipeline.sources.source import frame_of_records
from postroom.pipeline.spark.jars import Libraries, find_jars
from postroom.pipeline.worker.batch import WorkerBatch
from postroom.pipeline.worker.batch_reader import read_batches
from postroom.settings import load_settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from postroom.pipeline.checkpoint import Checkpoint

# Not every patch release of Spark comes with a connector of its own; that of 4.2.0 serves all of 4.2. Spark has these:
_OWN = (
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "org.scala-lang:scala-library",
)
_CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
_TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13"
CONNECTOR = (
    Libraries((_CONNECTOR,), _OWN),
    # Where the connector's own library for delegation tokens is not to be had, the nearest one of others serves.
    *(Libraries((_CONNECTOR, f"{_TOKENS}:{version}"), (*_OWN, _TOKENS)) for version in ("4.1.0-preview1", "4.0.0")),
)
# What the connector needs beside that which Spark has; these releases were tried together.
NEEDED = (
    _CONNECTOR,
    f"{_TOKENS}:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
)

# The option that names topics by a regular expression of Java's, those that come later included.
PATTERN = "subscribePattern"

# Options of the connector; names with a dot are Kafka's own and go to its consumer.
OPTIONS = frozenset(
    {
        "endingOffsets",
        "endingOffsetsByTimestamp",
        "endingTimestamp",
        "failOnDataLoss",
        "fetchOffset.numRetries",
        "fetchOffset.retryIntervalMs",
        "groupIdPrefix",
        "kafkaConsumer.pollTimeoutMs",
        "maxOffsetsPerTrigger",
        "maxRecordsPerPartition",
        "maxTriggerDelay",
        "minOffsetsPerTrigger",
        "minPartitions",
        "startingOffsets",
        "startingOffsetsByTimestamp",
        "startingOffsetsByTimestampStrategy",
        "startingTimestamp",
        PATTERN,
    }
)
OF_A_BATCH = frozenset({"endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"})
OF_A_STREAM = frozenset({"maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay"})

# Everything that is there, and not so much in one batch that a restart has to do hours of work again.
DEFAULTS = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": "1000000"}

# How Kafka's client says that a broker is away; it comes back, or it does not.
OUTAGES = (
    "TimeoutException",
    "DisconnectException",
    "NetworkException",
    "BrokerNotAvailable",
    "LeaderNotAvailable",
    "NotLeaderOrFollower",
    "NotCoordinator",
    "KafkaStorageException",
    "Connection refused",
    "No resolvable bootstrap urls",
)

# Options of Kafka's client that are secret, and others that are long: both come from files or variables.
SECRETS = frozenset({"sasl.jaas.config", "ssl.keystore.key"})
SECRET_ENDINGS = (".password", ".secret", ".token")
CERTIFICATES = frozenset({"ssl.truststore.certificates", "ssl.keystore.certificate.chain"})
# Spark prints the options of a source in its plans, and shows them on its pages, but for those that this setting names.
REDACTION = "spark.sql.redaction.options.regex"
HIDDEN = r"(?i)jaas|keystore[.]key|password|secret|token"
# What Kafka's client itself replaces, by one of the option config.providers.
PLACEHOLDER = "${"

CONNECT_TIMEOUT_S = 5.0
ANSWER_TIMEOUT_S = 30
PORT = 9092


# A topic and one of its partitions.
Partition = tuple[str, int]


class KafkaSource(msgspec.Struct, frozen=True):
    """Topics of a broker; headers and keys are part of the records."""

    servers: tuple[str, ...]
    topics: tuple[str, ...]
    options: dict[str, str]

    @property
    def needs_spark(self) -> bool:
        """Its connector is one of Spark's."""
        return True

    @property
    def name(self) -> str:
        """Brokers and topics; options may hold passwords and stay out."""
        topics = ",".join(self.topics)
        return f"{self._cluster}/{topics or f'?{PATTERN}={self._pattern}'}"

    @property
    def _pattern(self) -> str:
        return self.options.get(PATTERN, "")

    @property
    def _cluster(self) -> str:
        return f"kafka://{','.join(self.servers)}"

    @property
    def configuration(self) -> dict[str, str]:
        """The connector for Spark 4.2, by coordinates or from a folder of the user's."""
        found = find_jars(CONNECTOR, NEEDED, load_settings().jars)
        return {"spark.jars": ",".join(path.as_uri() for path in found)}

    def check(self, *, follow: bool) -> None:
        """Raise when no broker answers at all, or a secret is not where it should be."""
        self._options(frozenset())
        if not self.answers():
            raise ServiceUnreachable(
                "no broker answers there.", place=self._cluster, remedy="Is it running, and is the port right?"
            )

    def records(self, spark: SparkSession) -> DataFrame | None:
        """All records between the first offset and the last one of this moment."""
        hide_secrets(spark)
        reader = spark.read.format("kafka").options(**self._options(OF_A_STREAM))
        return self.batch(reader.load())

    def stream(self, spark: SparkSession) -> DataFrame:
        """Records as they come."""
        hide_secrets(spark)
        return spark.readStream.format("kafka").options(**self._options(OF_A_BATCH)).load()

    def batch(self, frame: DataFrame) -> DataFrame | None:
        """Records with topic and partition as their source and the offset as their position."""
        return frame_of_records(frame, self._cluster)

    def is_outage(self, error: str) -> bool:
        """Whether a broker is away for a while."""
        return any(sign in error for sign in OUTAGES)

    def check_rebind(self, other: str, stream: Path) -> None:
        """Whether all topics that were read are still among these; whether it is the same cluster, it says itself."""
        if not other.startswith("kafka://"):
            raise LakeRefused(f"a checkpoint of {other} is not one of topics.", place=self.name)
        gone = [topic for topic in _offsets(committed_offsets(stream)) if not self._has(topic)]
        if gone:
            raise LakeRefused(
                f"this checkpoint has read {', '.join(gone)}, which would not be read any more.",
                place=self.name,
                remedy="Name these topics, too, or a checkpoint of its own.",
            )

    def _has(self, topic: str) -> bool:
        try:
            return topic in self.topics or re.fullmatch(self._pattern, topic) is not None
        except re.error:  # Java knows what Python does not
            return True

    def answers(self) -> bool:
        """Whether any of the brokers listens."""
        return any(answers(server) for server in self.servers)

    def cluster(self, spark: SparkSession) -> str:
        """The cluster as it calls itself, whichever of its brokers is asked; `kafka:/` where it has no name."""
        return f"kafka://{cluster_id(spark, self._options(frozenset()), self._cluster)}".removesuffix("/")

    def preview(self, spark: SparkSession | None, kept: Checkpoint | None, most: int) -> Preview:
        """The offsets from where a run would begin to the newest of now, and the first records from there."""
        if spark is None:
            raise LakeRefused("only Spark reads Kafka.", place=self.name)
        options = self._options(frozenset())
        first, end = read_offsets(spark, options, self.topics, self._pattern, self._cluster)
        begin = dict(end if options["startingOffsets"] == "latest" else first)
        begin |= self._begun(kept, options["startingOffsets"])
        parts = {part: (min(begin.get(part, first[part]), end[part]), end[part]) for part in sorted(end)}
        full = {part: bounds for part, bounds in parts.items() if bounds[0] < bounds[1]}
        shown = [Part("/".join(map(str, part)), first=start, end=stop) for part, (start, stop) in parts.items()]
        each = -(-most // max(len(full), 1)) if most else 0
        cut = ["/".join(map(str, part)) for part, (start, stop) in full.items() if each and stop - start > each]
        return Preview(shown, self._sampled(spark, full, each), cut)

    def _begun(self, kept: Checkpoint | None, starting: str) -> dict[Partition, int]:
        """Offsets that a checkpoint has reached, or that an option names."""
        if kept is not None:
            return _by_partition(committed_offsets(kept.stream))
        if any(name.lower().endswith("timestamp") for name in self.options):
            raise BadFlag(
                "a dry run does not know which offsets these times are.",
                place=self.name,
                remedy="Give startingOffsets, or leave the option out.",
            )
        return {} if starting in ("earliest", "latest") else _by_partition(starting)

    def _sampled(
        self, spark: SparkSession, parts: dict[Partition, tuple[int, int]], each: int
    ) -> Iterator[WorkerBatch]:
        while parts:
            piece = {part: (first, min(first + (each or ROWS), end)) for part, (first, end) in parts.items()}
            options = self._options(OF_A_STREAM) | {
                "startingOffsets": _offsets_text(piece, 0),
                "endingOffsets": _offsets_text(piece, 1),
            }
            for name in ("subscribe", PATTERN):
                options.pop(name, None)
            wanted: dict[str, list[int]] = {}
            for topic, number in piece:
                wanted.setdefault(topic, []).append(number)
            options["assign"] = msgspec.json.encode(wanted).decode()
            frame = frame_of_records(spark.read.format("kafka").options(**options).load(), self._cluster)
            yield from read_batches(frame.toArrow().to_batches(), ROWS, BYTES)
            left = {part: (piece[part][1], end) for part, (_, end) in parts.items() if piece[part][1] < end}
            parts = {} if each else left

    def lag(self, reached: Reached) -> Lags:
        """Records behind the newest ones, by topic."""
        newest, ours = _offsets(reached.latest), _offsets(reached.end)
        return {topic: Lag(records=_behind(ours.get(topic, {}), offsets)) for topic, offsets in newest.items()}

    def _options(self, unwanted: frozenset[str]) -> dict[str, str]:
        fixed = {
            "kafka.bootstrap.servers": ",".join(self.servers),
            **({"subscribe": ",".join(self.topics)} if self.topics else {}),
            "includeHeaders": "true",
        }
        chosen = {**DEFAULTS, **self.options, **fixed}
        return {name: _value(name, given) for name, given in chosen.items() if name not in unwanted}


def parse_kafka(url: str) -> KafkaSource:
    """A source from its address."""
    try:
        parts = urlsplit(url)  # several hosts, so it is no URL as others are
    except ValueError:
        raise SourceUnknown("this is no address.", place=_bare(url), remedy="It is kafka://host:port/topic.") from None
    if "@" in parts.netloc:
        raise SourceUnknown(
            "a user or password in an address is not for Kafka, and others can read it on the command line.",
            place="kafka://",
            remedy="Give the option sasl.jaas.config=file:PATH or env:NAME.",
        )
    topics = tuple(unquote(topic) for topic in parts.path.strip("/").split(",") if topic)
    servers = tuple(_with_port(server) for server in parts.netloc.split(",") if server)
    options = {_option(name, url): value for name, value in parse_qsl(parts.query, keep_blank_values=True)}
    if bool(topics) == bool(options.get(PATTERN)) or not servers or "/" in parts.path.strip("/"):
        raise SourceUnknown(
            "this names topics and a pattern." if topics and options.get(PATTERN) else "this names no topic.",
            place=_bare(url),
            remedy=f"It is kafka://host:port/topic, or kafka://host:port/?{PATTERN}=REGEX.",
        )
    for name, value in options.items():
        _check_secret(name.removeprefix("kafka."), value, url)
    return KafkaSource(servers, topics, options)


def hide_secrets(spark: SparkSession) -> None:
    """Keep secret options out of all plans of a session, whoever made it."""
    others = spark.conf.get(REDACTION, "") or ""
    if HIDDEN not in others:
        spark.conf.set(REDACTION, f"{HIDDEN}|{others}" if others else HIDDEN)


def answers(server: str) -> bool:
    """Whether something listens there."""
    host, _, port = server.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_S):
            return True
    except (OSError, ValueError):
        return False


def cluster_id(spark: SparkSession, options: Mapping[str, str], place: str) -> str:
    """What a cluster calls itself; empty where its brokers do not tell."""
    from py4j.protocol import Py4JJavaError

    java: Any = spark.sparkContext._jvm
    try:
        with _admin_client(spark, options) as client:
            named = client.describeCluster().clusterId()
            return named.get(ANSWER_TIMEOUT_S, java.java.util.concurrent.TimeUnit.SECONDS) or ""
    except Py4JJavaError as error:  # of bad options Spark has more to say
        reported = str(error.java_exception.toString())
        # Once with it and once without would be two ids for one record.
        if any(sign in reported for sign in OUTAGES):
            raise ServiceUnreachable(f"the brokers do not answer: {reported}", place=place) from None
        return ""


@contextmanager
def _admin_client(spark: SparkSession, options: Mapping[str, str]) -> Iterator[Any]:
    """Kafka's own client for questions about topics, in Spark's Java."""
    java: Any = spark.sparkContext._jvm
    properties = java.java.util.Properties()
    for name, value in options.items():
        if name.startswith("kafka."):
            properties.setProperty(name.removeprefix("kafka."), value)
    try:
        client = java.org.apache.kafka.clients.admin.AdminClient.create(properties)
    except TypeError:  # to Python, a class that Java does not have is a package
        raise MissingSystem(
            "this Spark was started without its connector for Kafka.", remedy=f"Start it with --packages {_CONNECTOR}."
        ) from None
    try:
        yield client
    finally:
        client.close(java.java.time.Duration.ZERO)


def read_offsets(
    spark: SparkSession, options: Mapping[str, str], topics: Sequence[str], pattern: str, place: str
) -> tuple[dict[Partition, int], dict[Partition, int]]:
    """The earliest and the next offset of each partition of some topics, or of those with a pattern, as of now."""
    from py4j.protocol import Py4JJavaError

    java: Any = spark.sparkContext._jvm
    admin = java.org.apache.kafka.clients.admin
    try:
        with _admin_client(spark, options) as client:
            asked_for = java.java.util.ArrayList()
            if pattern:
                there = client.listTopics().names().get(ANSWER_TIMEOUT_S, java.java.util.concurrent.TimeUnit.SECONDS)
                topics = [name for name in there if java.java.util.regex.Pattern.matches(pattern, name)]
            for topic in topics:
                asked_for.add(topic)
            described = client.describeTopics(asked_for).allTopicNames()
            found = described.get(ANSWER_TIMEOUT_S, java.java.util.concurrent.TimeUnit.SECONDS)
            names = [(str(topic), info.partition()) for topic, about in found.items() for info in about.partitions()]
            partitions = {name: java.org.apache.kafka.common.TopicPartition(*name) for name in names}
            answers: list[dict[Partition, int]] = []
            for spec in (admin.OffsetSpec.earliest(), admin.OffsetSpec.latest()):
                asked = java.java.util.HashMap()
                for partition in partitions.values():
                    asked.put(partition, spec)
                offsets = (
                    client.listOffsets(asked).all().get(ANSWER_TIMEOUT_S, java.java.util.concurrent.TimeUnit.SECONDS)
                )
                answers.append({name: offsets.get(partition).offset() for name, partition in partitions.items()})
    except Py4JJavaError as error:
        reported = str(error.java_exception.toString())
        if "UnknownTopicOrPartition" in reported:
            raise SourceUnknown("there is no such topic yet.", place=f"{place}/{','.join(topics)}") from None
        raise ServiceUnreachable(f"the brokers do not answer: {reported}", place=place) from None
    return answers[0], answers[1]


def committed_offsets(stream: Path) -> str:
    """The offsets up to which batches were done, as Spark notes them; `{}` before the first."""
    done = max((int(path.name) for path in (stream / "commits").glob("[0-9]*") if path.name.isdigit()), default=-1)
    return (stream / "offsets" / str(done)).read_text().splitlines()[2] if done >= 0 else "{}"


def _by_partition(text: str) -> dict[Partition, int]:
    return {(topic, int(number)): n for topic, some in _offsets(text).items() for number, n in some.items() if n >= 0}


def _offsets_text(parts: Mapping[Partition, tuple[int, int]], which: int) -> str:
    found: dict[str, dict[str, int]] = {}
    for (topic, number), bounds in parts.items():
        found.setdefault(topic, {})[str(number)] = bounds[which]
    return msgspec.json.encode(found).decode()


def _offsets(text: str) -> dict[str, dict[str, int]]:
    """Offsets by topic and partition, as the connector writes them."""
    try:
        return msgspec.json.decode(text or "{}", type=dict[str, dict[str, int]])
    except msgspec.DecodeError:
        return {}


def _behind(ours: dict[str, int], newest: dict[str, int]) -> int:
    return sum(max(offset - ours.get(partition, 0), 0) for partition, offset in newest.items())


def _with_port(server: str) -> str:
    return server if server.rpartition(":")[2].isdigit() else f"{server}:{PORT}"


def _option(name: str, url: str) -> str:
    if name in OPTIONS or name.startswith("kafka."):
        return name
    if "." in name:
        return f"kafka.{name}"
    known = {option.lower(): option for option in OPTIONS}
    if name.lower() in known:
        return known[name.lower()]
    raise SourceUnknown(
        f"there is no option {name!r}.",
        place=_bare(url),
        remedy=f"Options are Kafka's own, with dots, and {', '.join(sorted(OPTIONS))}.",
    )


def _check_secret(name: str, value: str, url: str) -> None:
    """Refuse a secret that everybody sees who looks at the processes of this machine, or into a script."""
    is_secret = name.lower() in SECRETS or name.lower().endswith(SECRET_ENDINGS)
    if is_secret and value and not value.startswith((*REFERENCES, PLACEHOLDER)):
        raise SourceUnknown(
            f"the option {name} is secret, and others can read it on the command line.",
            place=_bare(url),
            remedy=f"Write {name}=file:PATH or {name}=env:NAME, and put the value there.",
        )


def _value(name: str, given: str) -> str:
    """The value of an option; what is secret or long may be in a file or a variable, and is read when it is needed."""
    bare = name.removeprefix("kafka.").lower()
    may_refer = name.startswith("kafka.") and (bare in SECRETS or bare in CERTIFICATES or bare.endswith(SECRET_ENDINGS))
    return resolve_reference(given, name.removeprefix("kafka.")) if may_refer else given


def _bare(url: str) -> str:
    """An address without what may be secret in it."""
    bare = url.partition("?")[0]
    return "kafka://" if "@" in bare else bare
