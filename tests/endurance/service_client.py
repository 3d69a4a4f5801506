"""What these tests ask services for, and what they expect of them in trouble."""

from __future__ import annotations

import httpx

from tests.endurance.proxy import Proxy
from tests.postgres import Postgres
from tests.replication.subscriptions.receivers import Receiver, wait_until

GROUP = "/messagegroups/ovens"
PATIENT = httpx.Timeout(60)
SETTINGS = {
    "POSTROOM_WRITE_WAIT_S": "1",
    "POSTROOM_SINK_HOSTS": "127.0.0.1",
    "POSTROOM_SINK_PRIVATE": "true",
    "POSTROOM_LINK_HOSTS": "127.0.0.1",
}


def through(proxy: Proxy, postgres: Postgres) -> str:
    """The URL of a new registry, by way of the proxy."""
    return postgres.registry().replace(f":{postgres.port}/", f":{proxy.port}/")


def told(answer: httpx.Response) -> str:
    """The sentence of a refusal, which is no defect of ours."""
    assert answer.status_code == 503, (answer.request.url, answer.status_code, answer.text)
    assert answer.headers["retry-after"]
    document = answer.json()
    sentence: str = document.get("detail") or document.get("title") or document.get("error") or ""
    assert sentence, document
    return sentence


def wait_until_ready(url: str) -> None:
    wait_until(lambda: httpx.get(f"{url}/readyz", timeout=30).status_code == 200)


def subscribe(client: httpx.Client, receiver: Receiver) -> None:
    document = {"sink": receiver.url, "protocol": "HTTP", "types": ["io.xregistry.group.created"]}
    assert client.post("/subscriptions", json=document).status_code == 201


def subjects(receiver: Receiver) -> list[str]:
    return [event["subject"] for event in receiver.events]
