"""The Subscriptions API: what a subscription may say, and the operations on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.xregistry.dispatch import answer
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.sinks import sink_table
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.absence import amqp_client

BASE = "https://bakery.example"
SETTINGS = Settings(sink_hosts=("hooks.example", "broker.example:9999", "tokens.example"))
PLAIN: dict[str, Any] = {"sink": "https://hooks.example/in", "protocol": "HTTP"}
TOKEN = {"accesstoken": "t0ken", "accesstokenexpiresutc": "2099-01-01T00:00:00Z", "accesstokentype": "bearer"}
REFRESH = {"refreshtoken": "r3fresh", "refreshtokenendpoint": "https://tokens.example/token"}
CREDENTIALS = [
    {"credentialtype": "PLAIN", "identifier": "baker", "secret": "p4ss"},
    {"credentialtype": "ACCESSTOKEN", **TOKEN},
    {"credentialtype": "REFRESHTOKEN", **TOKEN, **REFRESH},
]
SECRETS = ("p4ss", "t0ken", "r3fresh")


class Counter:
    """Where one asks the Subscriptions API, without a network."""

    def __init__(self, store: Store, settings: Settings = SETTINGS) -> None:
        self.store = store
        self.settings = settings

    def ask(self, method: str, path: str = "", document: Any = None, **headers: str) -> Response:
        path, _, query = path.partition("?")
        parameters = tuple(
            (name, value) for name, _, value in (part.partition("=") for part in query.split("&")) if name
        )
        sent = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        body = b"" if document is None else document if isinstance(document, bytes) else json.dumps(document).encode()
        request = Request(
            method=method, path=f"/subscriptions{path}", base=BASE, query=parameters, headers=sent, body=body
        )
        return answer(request, self.store, self.settings)

    def create(self, document: dict[str, Any]) -> dict[str, Any]:
        made = self.ask("POST", document=document)
        assert made.status == 201, made.content
        return read(made)

    def refused(self, document: Any) -> dict[str, Any]:
        """The problem document of a subscription that nobody gets."""
        before = read(self.ask("GET"))
        made = self.ask("POST", document=document)
        assert made.status == 400, made.content
        assert read(self.ask("GET")) == before
        found: dict[str, Any] = json.loads(made.content)
        return found


def read(answered: Response) -> Any:
    return json.loads(answered.content)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('shop')}/registry.db") as store:
        yield store


@pytest.fixture
def counter(shop: Store) -> Iterator[Counter]:
    yield Counter(shop)
    with shop.write() as tx:
        for found in subscription_store.listed(tx):
            subscription_store.remove(tx, found.id)


@pytest.mark.feature("SUB-001", "SUB-015")
def test_the_life_of_a_subscription(counter: Counter) -> None:
    wanted = {
        **PLAIN,
        "source": BASE,
        "types": ["io.xregistry.group.created"],
        "filters": [{"prefix": {"subject": "/messagegroups/ovens"}}],
        "protocolsettings": {"headers": {"X-Shop": "7"}, "method": "PUT", "mode": "binary"},
        "sinkcredential": CREDENTIALS[0],
    }
    made = counter.ask("POST", document=wanted)
    shown = read(made)
    assert made.status == 201
    assert made.headers["Location"] == f"{BASE}/subscriptions/{shown['id']}"
    assert shown == {
        **wanted,
        "id": shown["id"],
        "protocolsettings": {"headers": {"X-Shop": "…"}, "method": "PUT", "mode": "binary"},
        "sinkcredential": {"credentialtype": "PLAIN", "identifier": "baker"},
    }
    assert read(counter.ask("GET", f"/{shown['id']}")) == shown
    assert read(counter.ask("GET")) == [shown]
    changed = counter.ask("PUT", f"/{shown['id']}", {**PLAIN, "types": ["a", "b"]})
    assert changed.status == 200
    assert read(changed) == {
        **PLAIN,
        "id": shown["id"],
        "types": ["a", "b"],
        "protocolsettings": {"method": "POST", "mode": "structured"},
    }
    removed = counter.ask("DELETE", f"/{shown['id']}")
    assert (removed.status, read(removed)) == (200, read(changed))
    assert read(counter.ask("GET")) == []
    for method in ("GET", "PUT", "DELETE"):
        assert counter.ask(method, f"/{shown['id']}", PLAIN).status == 404


@pytest.mark.feature("SUB-002")
def test_an_id_on_create_is_ignored(counter: Counter) -> None:
    first, second = (counter.create({**PLAIN, "id": "mine"}) for _ in range(2))
    assert "mine" != first["id"] != second["id"]


@pytest.mark.feature("SUB-001")
def test_an_id_stays(counter: Counter) -> None:
    made = counter.create(PLAIN)
    assert counter.ask("PUT", f"/{made['id']}", {**PLAIN, "id": made["id"]}).status == 200
    assert counter.ask("PUT", f"/{made['id']}", {**PLAIN, "id": "mine"}).status == 400
    assert counter.ask("PUT", "/mine", PLAIN).status == 404


@pytest.mark.feature("SUB-014", "SUB-015")
@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("", "GET, OPTIONS, POST"),
        ("/some-id", "DELETE, GET, OPTIONS, PUT"),
        ("/some-id/delivery", "GET, OPTIONS"),
        ("/some-id/resume", "OPTIONS, POST"),
    ],
)
def test_what_can_be_done_is_told(counter: Counter, path: str, methods: str) -> None:
    told = counter.ask("OPTIONS", path)
    assert (told.status, told.headers["Allow"]) == (200, methods)
    refused = counter.ask("PATCH", path, {})
    assert (refused.status, refused.headers["Allow"]) == (405, methods)


@pytest.mark.parametrize("path", ["/some-id/else", "/some-id/delivery/more"])
def test_there_is_nothing_else(counter: Counter, path: str) -> None:
    assert counter.ask("GET", path).status == 404


@pytest.mark.feature("SUB-015")
@pytest.mark.parametrize("path", ["/x/delivery", "/x/deadletters", "/x/confirm?key=", "/x"])
def test_unknown_subscriptions_are_not_found(counter: Counter, path: str) -> None:
    assert counter.ask("GET", path).status == 404


@pytest.mark.feature("SUB-016")
def test_the_older_shape_is_read_and_the_newer_written(counter: Counter) -> None:
    older = {
        "source": "https://bakery.example",
        "protocol": "HTTPS",
        "sink": "https://hooks.example/notifications",
        "filter": {"prefix": {"subject": "/messagecatalog/5"}},
    }
    made = counter.ask("POST", document=older, content_type="application/cloudevents-subscription+json")
    assert made.status == 201
    shown = read(made)
    assert shown["protocol"] == "HTTP"
    assert shown["filters"] == [{"prefix": {"subject": "/messagecatalog/5"}}]
    assert "filter" not in shown
    assert counter.refused({**older, "filters": []})["pointer"] == "/filter"


@pytest.mark.audit("services-C4")
@pytest.mark.parametrize(
    "source",
    [
        *(BASE, BASE + "/", "HTTPS://Bakery.Example:443", "/"),
        *(BASE + "/messagecatalog", BASE + "/messagecatalog/", BASE + "/-/messagecatalog", "/messagecatalog"),
    ],
)
def test_the_roots_of_registry_and_message_catalog_are_sources(counter: Counter, source: str) -> None:
    made = counter.ask("POST", document={**PLAIN, "source": source})
    assert (made.status, read(made)["source"]) == (201, source)


@pytest.mark.audit("services-C4")
@pytest.mark.parametrize("source", ["https://source.example.com", "urn:bakery", "messagegroups", BASE + "/v0.5"])
def test_a_source_that_no_event_has_is_refused_with_those_that_there_are(counter: Counter, source: str) -> None:
    refused = counter.refused({**PLAIN, "source": source})
    assert refused["pointer"] == "/source"
    assert f"{BASE} or {BASE}/messagecatalog" in refused["args"]["error_detail"]


@pytest.mark.feature("SUB-001", "SUB-006", "SUB-009", "SUB-012", "SUB-015")
@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"sink": None}, "/sink"),
        ({"sink": 7}, "/sink"),
        ({"sink": "hooks.example"}, "/sink"),
        ({"sink": "ftp://hooks.example/"}, "/sink"),
        ({"sink": "https://hooks.example:port/"}, "/sink"),
        ({"sink": "https://hooks.example/a b"}, "/sink"),
        ({"sink": "https://hooks.example/\r\nX: y"}, "/sink"),
        ({"sink": "https://baker:p4ss@hooks.example/"}, "/sink"),
        ({"sink": "https://hooks.example/?access_token=t0ken"}, "/sink"),
        ({"sink": "https://elsewhere.example/"}, "/sink"),
        ({"sink": "http://hooks.example/"}, "/sink"),  # no TLS
        ({"protocol": None}, "/protocol"),
        ({"protocol": "http"}, "/protocol"),
        ({"protocol": "GOPHER"}, "/protocol"),
        ({"source": ""}, "/source"),
        ({"source": "a b"}, "/source"),
        ({"source": "https://source.example.com"}, "/source"),
        ({"source": BASE + "/messagegroups"}, "/source"),
        ({"source": BASE + ".evil.example"}, "/source"),
        ({"source": "http" + BASE.removeprefix("https")}, "/source"),
        ({"types": "a"}, "/types"),
        ({"types": [""]}, "/types"),
        ({"types": ["a"] * 201}, "/types"),
        ({"filters": {}}, "/filters"),
        ({"filters": [{"fuzzy": {"type": "x"}}]}, "/filters/0"),
        ({"filters": [{"sql": "1 +"}]}, "/filters/0/sql"),
        ({"config": {"interval": 5}}, "/config"),
        ({"config": {"after": "yesterday"}}, "/config/after"),
        ({"protocolsettings": []}, "/protocolsettings"),
        ({"protocolsettings": {"method": "DELETE"}}, "/protocolsettings"),
        ({"protocolsettings": {"colour": "red"}}, "/protocolsettings"),
        ({"protocolsettings": {"headers": {"Host": "x"}}}, "/protocolsettings/headers"),
        ({"protocolsettings": {"headers": {"Authorization": "x"}}}, "/protocolsettings/headers"),
        ({"protocolsettings": {"headers": {"webhook-request-origin": "x"}}}, "/protocolsettings/headers"),
        ({"protocolsettings": {"headers": {"X-Forwarded-For": "10.0.0.7"}}}, "/protocolsettings/headers"),
        ({"protocolsettings": {"headers": {"x-real-ip": "10.0.0.7"}}}, "/protocolsettings/headers"),
        ({"protocolsettings": {"headers": {"Forwarded": "for=10.0.0.7"}}}, "/protocolsettings/headers"),
        ({"protocolsettings": {"headers": {"A": "x\r\nB: y"}}}, "/protocolsettings/headers"),
        ({"protocolsettings": {"headers": {"A B": "x"}}}, "/protocolsettings/headers"),
        ({"sinkcredential": "p4ss"}, "/sinkcredential"),
        ({"sinkcredential": {"credentialtype": "MAGIC"}}, "/sinkcredential"),
        ({"sinkcredential": {"credentialtype": "PLAIN", "identifier": "baker"}}, "/sinkcredential"),
        ({"sinkcredential": {**CREDENTIALS[0], "identifier": "baker\0"}}, "/sinkcredential"),
        ({"sinkcredential": {**CREDENTIALS[0], "secret": "p4ss\n"}}, "/sinkcredential"),
        ({"sinkcredential": {"credentialtype": "ACCESSTOKEN", "accesstoken": "t0ken"}}, "/sinkcredential"),
        ({"sinkcredential": {**CREDENTIALS[1], "accesstokenexpiresutc": "tomorrow"}}, "/sinkcredential"),
        (
            {"sinkcredential": {**CREDENTIALS[1], "accesstokenexpiresutc": "2099-01-01T00:00:00"}},
            "/sinkcredential/accesstokenexpiresutc",
        ),
        ({"sinkcredential": {**CREDENTIALS[1], "accesstoken": "a\nb"}}, "/sinkcredential/accesstoken"),
        ({"sinkcredential": {**CREDENTIALS[1], "accesstokentype": "a b"}}, "/sinkcredential/accesstokentype"),
        ({"sinkcredential": {k: v for k, v in CREDENTIALS[2].items() if k != "refreshtoken"}}, "/sinkcredential"),
        (
            {"sinkcredential": {**CREDENTIALS[2], "refreshtokenendpoint": "https://169.254.169.254/"}},
            "/sinkcredential/refreshtokenendpoint",
        ),
    ],
)
def test_what_is_wrong_is_named(counter: Counter, change: dict[str, Any], pointer: str) -> None:
    problem = counter.refused({name: value for name, value in {**PLAIN, **change}.items() if value is not None})
    assert problem["pointer"] == pointer
    assert not any(secret in json.dumps(problem) for secret in SECRETS)


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b"{", b'{"sink": 1, "sink": 2}'])
def test_bodies_that_are_no_subscription(counter: Counter, body: bytes) -> None:
    assert counter.ask("POST", document=body).status == 400


def test_a_body_of_another_type(counter: Counter) -> None:
    assert counter.ask("POST", document=PLAIN, content_type="text/yaml").status == 415
    for taken in ("application/json; charset=utf-8", "application/x-www-form-urlencoded"):
        assert counter.ask("POST", document=PLAIN, content_type=taken).status == 201


def test_members_nobody_knows_are_refused(counter: Counter) -> None:
    assert "colour" in counter.refused({**PLAIN, "colour": "red"})["title"]


@pytest.mark.feature("SUB-013")
@pytest.mark.parametrize("credential", CREDENTIALS, ids=lambda found: str(found["credentialtype"]))
def test_secrets_are_write_only(counter: Counter, credential: dict[str, Any]) -> None:
    made = counter.create({**PLAIN, "sinkcredential": credential})
    path = f"/{made['id']}"
    answers = [counter.ask("GET"), counter.ask("GET", path), counter.ask("GET", f"{path}/delivery")]
    # What was read can be written again: the secrets stay as they were.
    answers.append(counter.ask("PUT", path, made))
    assert answers[-1].status == 200
    assert [name for name in ("p4ss", "t0ken", "r3fresh") if name.encode() in (kept(counter, made["id"]))] == [
        name for name in SECRETS if name in json.dumps(credential)
    ]
    # But they never go to another sink.
    elsewhere = counter.ask("PUT", path, {**made, "sink": "https://hooks.example/other"})
    assert elsewhere.status == 400
    answers += [elsewhere, counter.ask("DELETE", path)]
    for answered in answers:
        assert not any(secret.encode() in answered.content for secret in SECRETS)


@pytest.mark.feature("SUB-013")
def test_values_of_headers_are_write_only(counter: Counter, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    given = {"X-Api-Key": "k3y", "X-Shop": "7"}
    posted = counter.ask("POST", document={**PLAIN, "protocolsettings": {"headers": given}})
    made, path = read(posted), f"/{read(posted)['id']}"
    assert made["protocolsettings"]["headers"] == {"X-Api-Key": "…", "X-Shop": "…"}

    def headers_after(headers: dict[str, str], **other: str) -> Any:
        replaced = {**made, "protocolsettings": {"headers": headers}, **other}
        answers.append(counter.ask("PUT", path, replaced))
        return json.loads(kept(counter, made["id"]))["protocolsettings"].get("headers")

    answers = [posted, counter.ask("GET"), counter.ask("GET", path), counter.ask("GET", f"{path}/delivery")]
    # What was read can be written again, in part too, and with a new value beside.
    assert headers_after(made["protocolsettings"]["headers"]) == given
    assert headers_after({"x-api-key": "…", "X-Shop": "8"}) == {"x-api-key": "k3y", "X-Shop": "8"}
    assert headers_after({"X-Api-Key": "…"}) == {"X-Api-Key": "k3y"}
    assert answers[-1].status == 200
    # But a value never goes under another name, nor to another sink, nor into a new subscription.
    for refused in ({"X-Other": "…"}, {"X-Api-Key": "…", "X-Shop": "…"}):
        assert headers_after(refused) == {"X-Api-Key": "k3y"}
        assert read(answers[-1])["pointer"] == "/protocolsettings/headers"
    assert headers_after({"X-Api-Key": "…"}, sink="https://hooks.example/other") == {"X-Api-Key": "k3y"}
    assert answers[-1].status == 400
    answers.append(counter.ask("POST", document={**PLAIN, "protocolsettings": {"headers": {"X-Api-Key": "…"}}}))
    assert answers[-1].status == 400
    assert headers_after({}) is None
    answers.append(counter.ask("DELETE", path))
    assert not any(b"k3y" in answered.content for answered in answers)
    assert "k3y" not in caplog.text


def kept(counter: Counter, subscription_id: str) -> bytes:
    with counter.store.read() as tx:
        return tx.record("subscription", subscription_id) or b""


@pytest.mark.feature("SUB-009", "SUB-010", "SUB-011")
@pytest.mark.parametrize(
    ("protocol", "sink", "given", "shown"),
    [
        ("HTTP", "https://hooks.example/", {}, {"method": "POST", "mode": "structured"}),
        (
            "HTTP",
            "https://hooks.example/",
            {"headers": {"X-Shop": "7"}, "method": "PATCH", "mode": "binary"},
            {"headers": {"X-Shop": "…"}, "method": "PATCH", "mode": "binary"},
        ),
        ("MQTT3", "mqtts://broker.example:9999", {"topicname": "a"}, {"topicname": "a", "qos": 1, "retain": False}),
        (
            "MQTT5",
            "mqtts://broker.example:9999",
            {"topicname": "a", "qos": 2, "retain": True, "expiry": 60, "userproperties": {"shop": "7"}},
            {
                "topicname": "a",
                "qos": 2,
                "retain": True,
                "expiry": 60,
                "userproperties": {"shop": "7"},
                "mode": "structured",
            },
        ),
        (
            "AMQP",
            "amqps://broker.example:9999/queue",
            {"linkName": "l", "linkProperties": {"a": "b"}},
            {
                "linkname": "l",
                "linkproperties": {"a": "b"},
                "sendersettlementmode": "unsettled",
                "mode": "structured",
            },
        ),
        (
            "AMQP",
            "amqps://broker.example:9999",
            {"address": "q", "linkname": "l", "sendersettlementmode": "settled"},
            {"address": "q", "linkname": "l", "sendersettlementmode": "settled", "mode": "structured"},
        ),
        (
            "KAFKA",
            "kafkas://broker.example:9999",
            {"topicname": "t", "partitionkeyextractor": "source", "clientid": "c", "ackmode": 1},
            {"topicname": "t", "partitionkeyextractor": "source", "clientid": "c", "acks": "1", "mode": "structured"},
        ),
        (
            "KAFKA",
            "kafkas://broker.example:9999/t",
            {},
            {"partitionkeyextractor": "subject", "clientid": "postroom", "acks": "all", "mode": "structured"},
        ),
        ("NATS", "tls://broker.example:9999", {"subject": "s"}, {"subject": "s", "mode": "structured"}),
    ],
)
def test_protocols_and_their_settings(
    counter: Counter, protocol: str, sink: str, given: dict[str, Any], shown: dict[str, Any]
) -> None:
    if protocol == "AMQP":
        amqp_client()
    made = counter.create({"protocol": protocol, "sink": sink, "protocolsettings": given})
    assert made["protocolsettings"] == shown


@pytest.mark.feature("SUB-009", "SUB-011")
@pytest.mark.parametrize(
    ("protocol", "sink", "given"),
    [
        ("MQTT3", "mqtts://broker.example:9999", {}),
        ("MQTT3", "mqtts://broker.example:9999", {"topicname": "a", "expiry": 5}),
        ("MQTT5", "mqtts://broker.example:9999", {"topicname": "a", "qos": 3}),
        ("MQTT5", "https://broker.example:9999", {"topicname": "a"}),
        ("AMQP", "amqps://broker.example:9999", {"sendersettlementmode": "mixed"}),
        ("KAFKA", "kafkas://broker.example:9999", {}),
        ("KAFKA", "kafkas://broker.example:9999", {"topicname": "t", "acks": "2"}),
        ("MQTT5", "mqtts://broker.example:9999", {"topicname": "a/#"}),
        ("MQTT3", "mqtts://broker.example:9999", {"topicname": "a/+"}),
        ("MQTT5", "mqtts://broker.example:9999", {"topicname": "a", "userproperties": {"a": "b\0"}}),
        ("MQTT5", "mqtts://broker.example:9999", {"topicname": "a", "userproperties": {"a\n": "b"}}),
        ("AMQP", "amqps://broker.example:9999/q", {"linkname": "a\0"}),
        ("KAFKA", "kafkas://broker.example:9999", {"topicname": "t\0"}),
        ("KAFKA", "kafkas://broker.example:9999", {"topicname": "t", "clientid": "c\0"}),
        ("NATS", "tls://broker.example:9999", {}),
        ("NATS", "tls://broker.example:9999", {"subject": "a\r\nPUB b 0"}),
        ("NATS", "tls://broker.example:9999", {"subject": "a\n"}),
        ("NATS", "tls://broker.example:9999", {"subject": "a b"}),
        ("NATS", "tls://broker.example:9999", {"subject": "a.>"}),
        ("NATS", "tls://broker.example:9999", {"subject": "a..b"}),
        ("mqtt5", "mqtts://broker.example:9999", {"topicname": "a"}),
    ],
)
def test_settings_that_do_not_fit(counter: Counter, protocol: str, sink: str, given: dict[str, Any]) -> None:
    counter.refused({"protocol": protocol, "sink": sink, "protocolsettings": given})


def test_tokens_are_for_http(counter: Counter) -> None:
    problem = counter.refused(
        {
            "protocol": "NATS",
            "sink": "tls://broker.example:9999",
            "protocolsettings": {"subject": "s"},
            "sinkcredential": CREDENTIALS[1],
        }
    )
    assert problem["pointer"] == "/sinkcredential/credentialtype"


@pytest.mark.parametrize(
    ("hosts", "private", "sink", "accepted"),
    [
        ((), True, "https://hooks.example/", False),
        (("hooks.example",), False, "https://hooks.example:8443/", True),
        (("hooks.example:8443",), False, "https://hooks.example:8443/", True),
        (("hooks.example:8443",), False, "https://hooks.example/", False),
        (("HOOKS.example",), False, "https://hooks.EXAMPLE/", True),
        (("hooks.example",), False, "https://hooks.example.evil.example/", False),
        (("hooks.example",), False, "https://hooks.example@evil.example/", False),
        (("*",), False, "https://anything.example/", True),
        (("*",), False, "https://127.0.0.1/", False),
        (("*",), False, "https://localhost/", False),
        (("*",), False, "https://10.1.2.3/", False),
        (("*",), False, "https://169.254.169.254/latest/meta-data", False),
        (("*",), False, "https://[::1]/", False),
        (("*",), False, "https://[fe80::1]/", False),
        (("*",), False, "https://[::ffff:10.1.2.3]/", False),
        (("*",), False, "https://[64:ff9b::10.1.2.3]/", False),
        (("*",), False, "https://[64:ff9b::8.8.8.8]/", True),
        (("*",), False, "https://[64:ff9b:1::10.1.2.3]/", False),
        (("*",), False, "https://[::10.1.2.3]/", False),
        (("*",), False, "https://[::ffff:0:10.1.2.3]/", False),
        (("*",), False, "https://[fec0::1]/", False),
        (("*",), False, "https://[2001:4860:4860::8888]/", True),
        (("*",), False, "https://[2002:a01:203::1]/", False),
        (("*",), False, "https://0.0.0.0/", False),
        (("*",), False, "https://224.0.0.1/", False),
        (("*",), False, "https://8.8.8.8/", True),
        (("*",), False, "http://8.8.8.8/", False),
        (("*",), True, "http://127.0.0.1/", True),
        (("127.0.0.1:8081",), True, "http://127.0.0.1:8081/", True),
        (("[::1]:8081",), True, "http://[::1]:8081/", True),
    ],
)
def test_only_allowed_hosts_and_public_addresses(
    counter: Counter, hosts: tuple[str, ...], private: bool, sink: str, accepted: bool
) -> None:
    counter.settings = Settings(sink_hosts=hosts, sink_private=private)
    made = counter.ask("POST", document={**PLAIN, "sink": sink})
    assert made.status == (201 if accepted else 400), made.content


def test_a_client_that_is_not_installed(counter: Counter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sink_table.LIBRARIES, "NATS", ("no_such_module", "nats"))
    problem = counter.refused(
        {"protocol": "NATS", "sink": "tls://broker.example:9999", "protocolsettings": {"subject": "s"}}
    )
    assert "pip install 'postroom[nats]'" in problem["title"]


def test_their_number_is_bounded(counter: Counter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.replication.subscriptions.subscription_store.MOST", 2)
    for _ in range(2):
        counter.create(PLAIN)
    assert "2 subscriptions" in counter.refused(PLAIN)["title"]


def test_their_size_is_bounded(counter: Counter) -> None:
    problem = counter.refused({**PLAIN, "filters": [{"exact": {"subject": "x" * 300_000}}]})
    assert "too large" in problem["title"]


def test_their_size_together_is_bounded(counter: Counter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.replication.subscriptions.subscription_store.LARGEST_TOGETHER", 5000)
    large = {**PLAIN, "filters": [{"exact": {"subject": "x" * 3000}}]}
    first, second = counter.create(large), counter.create(PLAIN)
    assert "5000 are the most" in counter.refused(large)["title"]
    grown = counter.ask("PUT", f"/{second['id']}", large)
    assert grown.status == 400
    assert read(counter.ask("GET", f"/{second['id']}")) == second
    assert counter.ask("PUT", f"/{first['id']}", large).status == 200


def test_a_group_type_of_that_name_leaves_the_other_path(counter: Counter) -> None:
    made = counter.create(PLAIN)
    request = Request(method="GET", path=f"/-/subscriptions/{made['id']}", base=BASE)
    assert read(answer(request, counter.store, SETTINGS)) == made
