"""Masters, the way to them, and the paths that their machines see; no cluster is needed for these rules."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from postroom.errors import BadFlag, MissingSystem, ServiceUnreachable
from postroom.pipeline.spark import cluster
from postroom.pipeline.spark.cluster import can_bind, check_master, check_shared, driver_address, master_addresses
from postroom.pipeline.spark.session import find_master, spark_defaults
from postroom.settings import Settings

YARN_SITE = """<?xml version="1.0"?>
<configuration>
  <property><name>yarn.resourcemanager.hostname</name><value>rm.plant.example</value></property>
</configuration>
"""
TWO_MANAGERS = """<configuration>
  <property><name>yarn.resourcemanager.ha.rm-ids</name><value>a, b</value></property>
  <property><name>yarn.resourcemanager.address.a</name><value>one:8050</value></property>
  <property><name>yarn.resourcemanager.hostname.b</name><value>two</value></property>
</configuration>
"""


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(
    ("master", "addresses"),
    [
        ("local[*]", []),
        ("local-cluster[2,1,512]", []),
        ("spark://one:7078,two", [("one", 7078), ("two", 7077)]),
        ("spark://[::1]:7077", [("::1", 7077)]),
        ("k8s://https://api.example:6443", [("api.example", 6443)]),
        ("k8s://https://api.example", [("api.example", 443)]),
        ("sc://connect.example/;token=abc", [("connect.example", 15002)]),
        ("sc://connect.example:15009/;use_ssl=true", [("connect.example", 15009)]),
    ],
)
def test_a_master_names_its_hosts_and_ports(master: str, addresses: list[tuple[str, int]]) -> None:
    assert master_addresses(master, {}) == addresses


@pytest.mark.parametrize(
    ("text", "addresses"), [(YARN_SITE, [("rm.plant.example", 8032)]), (TWO_MANAGERS, [("one", 8050), ("two", 8032)])]
)
def test_the_resource_managers_of_yarn_are_those_of_hadoop(
    tmp_path: Path, text: str, addresses: list[tuple[str, int]]
) -> None:
    (tmp_path / "yarn-site.xml").write_text(text)
    assert master_addresses("yarn", {"HADOOP_CONF_DIR": str(tmp_path)}) == addresses


def test_yarn_without_its_configuration_is_one_sentence() -> None:
    with pytest.raises(MissingSystem, match="HADOOP_CONF_DIR"):
        check_master("yarn", {})


def test_a_master_that_is_away_is_said_at_once(monkeypatch: pytest.MonkeyPatch, listener: int) -> None:
    monkeypatch.setattr(cluster, "MASTER_TIMEOUT_S", 0.0)
    check_master(f"spark://127.0.0.1:{listener}")
    with socket.create_server(("127.0.0.1", 0)) as closing:
        port = closing.getsockname()[1]
    with pytest.raises(ServiceUnreachable, match="no master answers there"):
        check_master(f"spark://127.0.0.1:{port}")
    check_master(f"spark://127.0.0.1:{port},127.0.0.1:{listener}")
    with pytest.raises(ServiceUnreachable):
        check_master(f"k8s://https://127.0.0.1:{port}", {})
    check_master(f"k8s://https://127.0.0.1:{port}", {"HTTPS_PROXY": "http://proxy:3128"})


@pytest.mark.parametrize("master", ["moon://x", "spark://one:many", "spark://[one"])
def test_what_is_no_master_is_refused(master: str) -> None:
    with pytest.raises(BadFlag):
        check_master(master)


def test_the_driver_is_reached_by_the_address_from_which_it_reaches_the_master(listener: int) -> None:
    assert driver_address(f"spark://127.0.0.1:{listener}") == "127.0.0.1"
    assert driver_address("spark://no.such.host.invalid:7077") == ""
    assert can_bind("127.0.0.1")
    assert not can_bind("203.0.113.7")


def test_only_shared_folders_and_addresses_are_for_a_cluster(tmp_path: Path) -> None:
    shared = Settings(shared_paths=(str(tmp_path / "shared"),))
    check_shared(tmp_path / "shared" / "lake", "a lake", shared)
    check_shared((tmp_path / "shared").as_uri(), "a lake", shared)
    check_shared("kafka://broker:9092/orders", "a source", shared)
    for path in (tmp_path / "lake", (tmp_path / "lake").as_uri(), tmp_path / "shared-not"):
        with pytest.raises(BadFlag, match="--shared-paths FOLDER"):
            check_shared(path, "a lake", shared)


def test_spark_s_own_file_of_defaults_is_read(tmp_path: Path) -> None:
    text = "# ours\nspark.executor.memory   2g\nspark.master=local[3]\nspark.a: b = c\n\nspark.empty\n"
    (tmp_path / "spark-defaults.conf").write_text(text)
    found = spark_defaults({"SPARK_CONF_DIR": str(tmp_path)})
    assert found == {"spark.executor.memory": "2g", "spark.master": "local[3]", "spark.a": "b = c"}
    (tmp_path / "conf").mkdir()
    (tmp_path / "spark-defaults.conf").rename(tmp_path / "conf" / "spark-defaults.conf")
    assert spark_defaults({"SPARK_HOME": str(tmp_path)}) == found
    assert spark_defaults({}) == {}


def test_a_master_is_taken_from_where_it_is_said_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.pipeline.spark.session.inside_spark", lambda: False)
    (tmp_path / "spark-defaults.conf").write_text("spark.master local[3]\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert find_master() == "local[3]"
    assert find_master("", {"spark.master": "local[2]"}) == "local[2]"
    assert find_master("local[1]", {"spark.master": "local[2]"}) == "local[1]"
    monkeypatch.delenv("SPARK_CONF_DIR")
    monkeypatch.delenv("SPARK_HOME", raising=False)
    assert find_master() == "local[*]"
