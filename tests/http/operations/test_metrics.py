"""`/metrics`: real numbers of a running service, read by the parser of Prometheus' own client."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.http.operations.metric_table import FAMILIES
from postroom.http.operations.route_templates import OTHER, route_of
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient
from tests.http.running_service import serving

HOSTS = {"POSTROOM_SINK_HOSTS": "*", "POSTROOM_SINK_PRIVATE": "1", "POSTROOM_LINK_HOSTS": "*"}
RIDE = "/messagegroups/fleet/messages/ride"
RESOURCE = "/{grouptype}/{groupid}/{resourcetype}/{resourceid}"


def samples(text: str) -> list[Sample]:
    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]


def value(text: str, name: str, **labels: str) -> float:
    """The sum of the samples of that name with these labels, whatever their other labels are."""
    return sum(one.value for one in samples(text) if one.name == name and labels.items() <= one.labels.items())


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    with serving(f"sqlite:///{tmp_path}/registry.db", **HOSTS) as (_, url):
        yield url


def test_every_metric_of_the_table_is_exposed_with_its_type_and_help(service: str) -> None:
    answer = httpx.get(f"{service}/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = {family.name: family for family in text_string_to_metric_families(answer.text)}
    for family in FAMILIES:
        parsed = found.pop(family.name.removesuffix("_total"))
        assert (parsed.type, parsed.documentation) == (family.type, family.help)
        assert all(set(one.labels) - {"le"} == set(family.labels) for one in parsed.samples)
    assert not found


def test_requests_are_counted_by_method_route_and_status(service: str) -> None:
    with httpx.Client(base_url=service) as client:
        assert client.put(RIDE, json={}).status_code == 201
        for _ in range(3):
            assert client.get(RIDE).status_code == 200
        assert client.get("/messagegroups/fleet/messages/none").status_code == 404
        text = client.get("/metrics").text
    count = "postroom_http_request_duration_seconds_count"
    assert value(text, count, method="PUT", route=RESOURCE, status="201") == 1
    assert value(text, count, method="GET", route=RESOURCE, status="200") == 3
    assert value(text, count, method="GET", route=RESOURCE, status="404") == 1
    assert value(text, "postroom_cache_requests_total", result="hit") == 2
    assert value(text, "postroom_cache_requests_total", result="miss") >= 2
    assert value(text, "postroom_http_requests_in_progress") == 1  # the one that asks
    assert 0 < value(text, "postroom_http_request_duration_seconds_sum", route=RESOURCE) < 60


def test_buckets_of_a_histogram_add_up(service: str) -> None:
    with httpx.Client(base_url=service) as client:
        for number in range(20):
            client.put(f"{RIDE}{number}", json={})
        text = client.get("/metrics").text
    for name in ("postroom_http_request_duration_seconds", "postroom_store_transaction_duration_seconds"):
        rows: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
        for one in samples(text):
            if one.name == f"{name}_bucket":
                key = tuple(sorted((k, v) for k, v in one.labels.items() if k != "le"))
                rows.setdefault(key, []).append((float(one.labels["le"]), one.value))
        assert rows
        for key, row in rows.items():
            assert row == sorted(row)
            assert [count for _, count in row] == sorted(count for _, count in row)
            assert row[-1] == (math.inf, value(text, f"{name}_count", **dict(key)))


def test_the_store_the_change_log_and_the_process_are_measured(service: str) -> None:
    with httpx.Client(base_url=service) as client:
        before = client.get("/metrics").text
        client.put(RIDE, json={})
        client.patch(RIDE, json={"epoch": 77})
        after = client.get("/metrics").text
    changes = httpx.get(f"{service}/changes").json()
    writes = "postroom_store_transaction_duration_seconds_count"
    assert value(after, writes, operation="write", outcome="done") > value(
        before, writes, operation="write", outcome="done"
    )
    assert value(after, writes, operation="write", outcome="refused") == 1
    assert value(after, "postroom_change_log_sequence") > value(before, "postroom_change_log_sequence")
    assert changes
    assert abs(value(after, "postroom_change_log_newest_timestamp_seconds") - time.time()) < 60
    assert value(after, "process_resident_memory_bytes") > 10_000_000
    assert value(after, "process_cpu_seconds_total") > 0
    assert value(after, "process_open_fds") > 3
    assert value(after, "postroom_dispatcher_alive") == 1


def test_a_sink_that_takes_nothing_makes_the_lag_of_its_subscription_grow(service: str) -> None:
    with httpx.Client(base_url=service) as client:
        order = {"sink": "http://127.0.0.1:9/", "protocol": "HTTP"}
        made = client.post("/subscriptions", json=order)
        assert made.status_code == 201, made.text
        subscription = made.json()["id"]
        assert value(client.get("/metrics").text, "postroom_delivery_lag_changes", subscription=subscription) == 0
        client.put(RIDE, json={})
        time.sleep(0.2)
        text = client.get("/metrics").text
    assert value(text, "postroom_delivery_lag_changes", subscription=subscription) >= 1
    assert value(text, "postroom_delivery_lag_seconds", subscription=subscription) >= 0.2
    assert sum(one.value for one in samples(text) if one.name == "postroom_subscriptions") == 1


def test_a_link_whose_source_is_not_there_lags(service: str) -> None:
    with httpx.Client(base_url=service) as client:
        link = {"mode": "pull", "remote": "http://127.0.0.1:9/", "every": 0.1}
        made = client.put("/-/replication/links/plant", json=link)
        assert made.status_code in (200, 201), made.text
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            text = client.get("/metrics").text
            if value(text, "postroom_link_lag_seconds", link="plant") > 0.5:
                break
            time.sleep(0.1)
    assert value(text, "postroom_link_lag_seconds", link="plant") > 0.5
    assert value(text, "postroom_links", status="waiting") == 1


def test_with_several_workers_each_scrape_answers_for_all_of_them_also_for_those_that_died(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db", "--workers", "2") as (process, url):
        for _ in range(40):  # a new connection each time, so that both workers get some
            assert httpx.get(f"{url}/model").status_code == 200
        time.sleep(2.5)
        count = "postroom_http_request_duration_seconds_count"
        text = httpx.get(f"{url}/metrics").text
        assert value(text, count, route="/model") == 40
        pids = {one.labels["pid"] for one in samples(text) if one.name == "process_resident_memory_bytes"}
        assert len(pids) == 2
        victim = int(min(pids))
        os.kill(victim, signal.SIGKILL)
        deadline = time.monotonic() + 120  # the health check of uvicorn that runs as it dies has to time out first
        while time.monotonic() < deadline:
            text = httpx.get(f"{url}/metrics").text
            now = {one.labels["pid"] for one in samples(text) if one.name == "process_resident_memory_bytes"}
            if len(now) == 2 and str(victim) not in now:
                break
            time.sleep(0.3)
        assert str(victim) not in now
        assert value(text, count, route="/model") == 40
        assert process.poll() is None


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/", "/"),
        ("/messagegroups", "/{grouptype}"),
        ("/messagegroups/fleet/", "/{grouptype}/{groupid}"),
        ("/messagegroups/fleet/messages", "/{grouptype}/{groupid}/{resourcetype}"),
        (RIDE, RESOURCE),
        (f"{RIDE}$details", RESOURCE),
        (f"{RIDE}/meta", f"{RESOURCE}/meta"),
        (f"{RIDE}/versions", f"{RESOURCE}/versions"),
        (f"{RIDE}/versions/3", f"{RESOURCE}/versions/{{versionid}}"),
        (f"{RIDE}/versions/3/4", OTHER),
        (f"{RIDE}/else", OTHER),
        ("/model", "/model"),
        ("/-/healthz", "/healthz"),
        ("/changes", "/changes"),
        ("/subscriptions/17", "/subscriptions/…"),
        ("/-/replication/links/one", "/replication/…"),
        ("/v0.5/endpoints/x", "/v0.5/…"),
        ("/-/s/abcdefgh", "/-/s/…"),
        ("/.well-known/xregistry", "/.well-known/xregistry"),
    ],
)
def test_a_path_is_counted_under_its_template(path: str, route: str) -> None:
    assert route_of(path) == route


def test_ids_and_methods_that_clients_invent_make_no_new_series(asgi: AsgiClient) -> None:
    for number in range(50):
        asgi.ask("GET", f"/nothing{number}/x{number}")
        asgi.ask(f"BREW{number}", "/")
    text = asgi.ask("GET", "/metrics").body.decode()
    series = {tuple(sorted(one.labels.items())) for one in samples(text) if one.name.endswith("_seconds_count")}
    assert len(series) < 12


def test_metrics_are_for_administrators_and_those_who_may_read_them(store: Store) -> None:
    with store.write() as tx:
        _, scraper = create_key(tx, "prometheus", [parse_grant("key:prometheus", "read", "/-/metrics")])
        _, reader = create_key(tx, "reader", [parse_grant("key:reader", "read", "/messagegroups")])
    service = AsgiClient(create_app(store, Settings(access="on")))
    assert service.ask("GET", "/metrics").status == 401
    refused = service.ask("GET", "/metrics", headers={"Authorization": f"Bearer {reader}"})
    assert (refused.status, refused.json["args"]["grant"]) == (403, "read on /-/metrics")
    given = {"Authorization": f"Bearer {scraper}"}
    assert service.ask("GET", "/-/metrics", headers=given).status == 200
    assert service.ask("PUT", RIDE, {}, headers=given).status == 403
    assert service.ask("GET", "/messagegroups", headers=given).json == {}
