"""What client libraries hand out that is out of the ordinary. The ordinary travels in tests/integration."""

from __future__ import annotations

import httpx

from postroom.protocols.clients import from_http, to_http, to_kafka, to_mqtt, to_nats


def test_what_a_definition_leaves_open_is_left_open() -> None:
    assert to_kafka({"protocol": "KAFKA", "payload": "x"}) == {"key": None, "value": b"x", "headers": []}
    assert "topic" not in to_mqtt({"protocol": "MQTT/3.1.1", "payload": "x"})
    assert to_nats({"protocol": "NATS"}) == {"payload": b"", "reply": "", "headers": None}
    assert (to_http({"protocol": "HTTP"})["method"], to_http({"protocol": "HTTP"})["url"]) == ("POST", "/")


def test_header_values_are_sent_as_cloudevents_writes_them() -> None:
    headers = [{"name": "urgent", "value": True}, {"name": "count", "value": 3}, {"name": "none", "value": None}]
    written = [("urgent", "true"), ("count", "3")]
    assert to_kafka({"protocol": "KAFKA", "metadata": {"headers": headers}})["headers"] == [*written, ("none", None)]
    assert to_http({"protocol": "HTTP", "metadata": {"headers": headers}})["headers"] == written
    assert to_nats({"protocol": "NATS", "metadata": {"headers": headers}})["headers"] == dict(written)
    sent = to_mqtt({"protocol": "MQTT/5.0", "metadata": {"user_properties": headers}})
    assert sent["properties"].UserProperty == written


def test_http_queries_and_repeated_headers_are_kept() -> None:
    request = httpx.Request("GET", "http://bakery.example/a%20b?line=rye&line=wheat", headers=[("x", "1"), ("x", "2")])
    metadata = from_http(request).metadata
    assert (metadata["method"], metadata["path"]) == ("GET", "/a%20b")
    assert metadata["query"] == [{"name": "line", "value": "rye"}, {"name": "line", "value": "wheat"}]
    assert [pair["value"] for pair in metadata["headers"] if pair["name"] == "x"] == ["1", "2"]
