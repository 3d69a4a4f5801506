from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import MissingSystem, ServiceUnreachable, SourceUnknown
from postroom.pipeline import sort
from postroom.pipeline.sources.kafka import KafkaSource, answers, parse_kafka
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


def test_the_name_holds_no_secret() -> None:
    source = parse_kafka("kafka://one/orders?sasl.jaas.config=password")
    assert source.name == "kafka://one:9092/orders"


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
