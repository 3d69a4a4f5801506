from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import BadSetting, LakeRefused, MissingSystem, ServiceUnreachable, SourceUnknown
from postroom.pipeline import sort
from postroom.pipeline.sources.kafka import (
    HIDDEN,
    REDACTION,
    SECRETS,
    KafkaSource,
    answers,
    hide_secrets,
    parse_kafka,
)
from postroom.pipeline.sources.lag import Lag, Reached
from postroom.pipeline.sources.source import open_source


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_spark_without_the_connector_is_one_sentence(spark: Any, catalog: Catalog, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as broker:
        source = f"kafka://127.0.0.1:{broker.getsockname()[1]}/orders"
        with pytest.raises(MissingSystem, match="without its connector for Kafka. Start it with --packages org"):
            sort(spark, source, catalog, tmp_path / "lake")


def test_brokers_topics_and_options_come_from_the_address() -> None:
    source = parse_kafka(
        "kafka://one:9093,two/orders,fleet%20positions?startingoffsets=latest&security.protocol=SSL&kafka.client.id=me"
    )
    assert source == KafkaSource(
        ("one:9093", "two:9092"),
        ("orders", "fleet positions"),
        {"startingOffsets": "latest", "kafka.security.protocol": "SSL", "kafka.client.id": "me"},
    )
    assert isinstance(open_source("kafka://one/orders"), KafkaSource)


def test_what_is_secret_comes_from_files_or_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, certificates = tmp_path / "jaas", tmp_path / "ca.pem"
    private.write_text("module required password=hush;\n")
    private.chmod(0o600)
    certificates.write_text("-----BEGIN")
    certificates.chmod(0o600)
    monkeypatch.setenv("STORE_PASSWORD", "psst")
    source = parse_kafka(
        f"kafka://one/orders?sasl.jaas.config=file:{private}&ssl.truststore.password=env:STORE_PASSWORD"
        f"&ssl.truststore.certificates=file:{certificates}&ssl.key.password=${{file:/x:y}}&client.id=env:me"
    )
    assert source.name == "kafka://one:9092/orders"
    assert "hush" not in repr(source)
    assert "psst" not in repr(source)
    options = source._options(frozenset())
    assert options["kafka.sasl.jaas.config"] == "module required password=hush;"
    assert options["kafka.ssl.truststore.password"] == "psst"
    assert options["kafka.ssl.truststore.certificates"] == "-----BEGIN"
    assert options["kafka.ssl.key.password"] == "${file:/x:y}"
    assert options["kafka.client.id"] == "env:me"


@pytest.mark.parametrize(
    "option",
    [
        "sasl.jaas.config",
        "kafka.ssl.key.password",
        "ssl.keystore.key",
        "SSL.Truststore.Password",
        "oauth.client.secret",
    ],
)
def test_a_secret_in_the_address_is_refused_and_not_repeated(option: str) -> None:
    with pytest.raises(SourceUnknown, match=r"is secret, and others can read it .* Write .*=file:PATH or") as raised:
        parse_kafka(f"kafka://one/orders?{option}=hush")
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    "address", ["kafka://me:hush@one:9092/orders", "kafka://me:hush@one:9092", "kafka://hush@one/a/b"]
)
def test_a_password_before_the_host_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(SourceUnknown, match="not for Kafka") as raised:
        parse_kafka(address)
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    ("reference", "sentence"), [("env:NOT_SET", "NOT_SET is not set"), ("file:/none", "cannot be read")]
)
def test_a_secret_that_is_not_there_is_said_before_spark_starts(reference: str, sentence: str) -> None:
    with pytest.raises(BadSetting, match=sentence):
        parse_kafka(f"kafka://one/orders?sasl.jaas.config={reference}").check(follow=True)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_hides_every_secret_and_what_it_hid_before(spark: Any) -> None:
    before = spark.conf.get(REDACTION)
    try:
        spark.conf.set(REDACTION, "(?i)url")
        hide_secrets(spark)
        hide_secrets(spark)
        hidden = spark.conf.get(REDACTION)
    finally:
        spark.conf.set(REDACTION, before)
    assert hidden == f"{HIDDEN}|(?i)url"
    for name in (*SECRETS, "ssl.key.password", "oauth.client.secret", "oauth.token"):
        assert re.search(HIDDEN, f"kafka.{name}"), name


@pytest.mark.parametrize("url", ["kafka://one", "kafka:///orders", "kafka://one/", "kafka://one/a/b"])
def test_addresses_without_topic_are_refused(url: str) -> None:
    with pytest.raises(SourceUnknown, match="names no topic"):
        parse_kafka(url)


def test_unknown_options_are_refused_and_secrets_stay_out_of_the_sentence() -> None:
    with pytest.raises(SourceUnknown, match="no option 'offset'") as raised:
        parse_kafka("kafka://one/orders?offset=3&sasl.jaas.config=password")
    assert "password" not in str(raised.value)


def test_options_of_streams_and_of_batches_are_kept_apart() -> None:
    source = parse_kafka("kafka://one/orders?endingOffsets=latest&maxOffsetsPerTrigger=10")
    assert "endingOffsets" not in source._options(frozenset({"endingOffsets"}))
    assert source._options(frozenset())["maxOffsetsPerTrigger"] == "10"


def test_a_broker_that_is_not_there_is_said_so() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert not answers(f"127.0.0.1:{port}")
    assert not answers("127.0.0.1:x")
    with pytest.raises(ServiceUnreachable, match="no broker answers"):
        parse_kafka(f"kafka://127.0.0.1:{port}/orders").check(follow=True)


def test_topics_may_be_named_by_a_pattern() -> None:
    source = parse_kafka(r"kafka://one/?subscribePattern=fleet%5C..*&startingOffsets=latest")
    assert (source.topics, source.name) == ((), r"kafka://one:9092/?subscribePattern=fleet\..*")
    options = source._options(frozenset())
    assert (options["subscribePattern"], "subscribe" in options) == (r"fleet\..*", False)
    with pytest.raises(SourceUnknown, match="names topics and a pattern"):
        parse_kafka("kafka://one/orders?subscribePattern=fleet")
    with pytest.raises(SourceUnknown, match="names no topic"):
        parse_kafka("kafka://one/?subscribePattern=")


def test_a_checkpoint_goes_on_only_where_all_its_topics_are_read(tmp_path: Path) -> None:
    for name, text in {"offsets/4": 'v1\n{}\n{"orders":{"0":7},"fleet.a":{"0":1}}\n', "commits/4": "v1\n{}"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for topics in ("orders,fleet.a,more", "?subscribePattern=orders%7Cfleet%5C..*", "?subscribePattern=%5Cp%7BL%7D*"):
        parse_kafka(f"kafka://other/{topics}").check_rebind("kafka://one:9092/orders,fleet.a", tmp_path)
    for topics in ("orders", "?subscribePattern=orders"):
        with pytest.raises(LakeRefused, match="has read fleet.a, which would not be read any more"):
            parse_kafka(f"kafka://other/{topics}").check_rebind("kafka://one:9092/orders,fleet.a", tmp_path)
    with pytest.raises(LakeRefused, match="is not one of topics"):
        parse_kafka("kafka://other/orders").check_rebind("/inbox", tmp_path)


@pytest.mark.parametrize(
    ("text", "outage"),
    [
        ("org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment.", True),
        ("org.apache.kafka.common.errors.UnknownTopicOrPartitionException: no", False),
    ],
)
def test_outages_are_told_from_mistakes(text: str, outage: bool) -> None:
    assert parse_kafka("kafka://one/orders").is_outage(text) is outage


@pytest.mark.parametrize(
    ("reached", "latest", "lag"),
    [
        ('{"rides":{"0":5,"1":7}}', '{"rides":{"0":9,"1":7}}', {"rides": 4}),
        ('{"rides":{"0":5}}', '{"rides":{"0":5,"1":3},"alarms":{"0":2}}', {"rides": 3, "alarms": 2}),
        ('{"rides":{"0":5}}', '{"rides":{"0":1}}', {"rides": 0}),
        ("", "", {}),
        ("what?", '{"rides":{"0":1}}', {"rides": 1}),
    ],
)
def test_lag_is_counted_by_topic(reached: str, latest: str, lag: dict[str, int]) -> None:
    found = parse_kafka("kafka://host/rides").lag(Reached(reached, latest))
    assert found == {topic: Lag(records=count) for topic, count in lag.items()}
