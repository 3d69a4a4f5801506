"""Writes beside each other: documents are checked while nobody holds the lock, and nobody waits for ever."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import RULES, PayloadFormats
from postroom.http.server.app import create_app
from postroom.registry.problems import RegistryProblem
from postroom.registry.rules import Judgement, ReferencedDocument, Surroundings
from postroom.settings import Settings
from postroom.store.checked_write import ATTEMPTS, write_checked
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

SCHEMAS = "/schemagroups/ovens/schemas"
INTEGER, NUMBER, TEXT = ({"type": kind} for kind in ("integer", "number", "string"))


class Watched(PayloadFormats):
    """The payload formats, with something that happens whenever they are asked."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], None] = lambda: None
        self.asked: list[str] = []

    def check(self, name: str, content: bytes, around: Surroundings) -> Judgement:
        self.asked.append(around.xid)
        judgement = super().check(name, content, around)
        self.meanwhile()
        return judgement

    def compare(
        self,
        name: str,
        older: list[ReferencedDocument],
        newer: bytes,
        rule: str,
        around: Surroundings,
        *,
        is_strict: bool = False,
    ) -> Judgement:
        self.asked.append(rule)
        judgement = super().compare(name, older, newer, rule, around, is_strict=is_strict)
        self.meanwhile()
        return judgement


@pytest.fixture
def formats() -> Watched:
    return Watched()


@pytest.fixture
def store(tmp_path: Path, formats: Watched) -> Iterable[Store]:
    rules = msgspec.structs.replace(RULES, documents=formats)
    with open_store(f"sqlite:///{tmp_path}/registry.db", rules=rules, write_wait_s=0.2) as opened:
        yield opened


@pytest.fixture
def asgi(store: Store) -> AsgiClient:
    return AsgiClient(create_app(store, Settings()))


def version(schema: Any, **attributes: Any) -> dict[str, Any]:
    return {"format": "JsonSchema/draft-07", "schema": schema, **attributes}


def test_others_write_while_a_document_is_checked_and_compared(
    asgi: AsgiClient, store: Store, formats: Watched
) -> None:
    def write() -> None:
        with store.write() as tx:
            tx.put_record("notes", str(len(formats.asked)), b"written")

    formats.meanwhile = write
    first = asgi.ask("PUT", f"{SCHEMAS}/door$details", version(INTEGER))
    assert first.status == 201
    assert asgi.ask("PATCH", f"{SCHEMAS}/door/meta", {"compatibility": "backward"}).status == 200
    assert asgi.ask("POST", f"{SCHEMAS}/door$details", version(NUMBER)).status == 201
    shown = asgi.ask("GET", f"{SCHEMAS}/door$details").json
    assert (shown["formatvalidated"], shown["compatibilityvalidated"]) == (True, True)
    assert "backward" in formats.asked
    with store.read() as tx:
        assert len(tx.records("notes")) == len(formats.asked)


def test_each_document_is_checked_once(asgi: AsgiClient, formats: Watched) -> None:
    group = {"schemas": {f"s{number}": version({"maximum": number}) for number in range(20)}}
    assert asgi.ask("PUT", "/schemagroups/ovens", group).status == 201
    assert len(formats.asked) == 20


def test_what_is_wrong_is_refused_as_before_and_leaves_nothing(asgi: AsgiClient) -> None:
    refused = asgi.ask("PUT", f"{SCHEMAS}/door$details", version({"type": "no such type"}))
    assert refused.problem == "format_violation"
    assert asgi.ask("GET", "/schemagroups/ovens").status == 404
    asgi.ask("PUT", f"{SCHEMAS}/door$details", version(INTEGER))
    asgi.ask("PATCH", f"{SCHEMAS}/door/meta", {"compatibility": "backward"})
    assert asgi.ask("POST", f"{SCHEMAS}/door$details", version(TEXT)).problem == "compatibility_violation"
    assert asgi.ask("GET", f"{SCHEMAS}/door/versions").json.keys() == {"1"}


@pytest.mark.parametrize("order", [("door", "hinge"), ("a-hinge", "door")])
def test_a_document_may_refer_to_another_of_the_same_request(asgi: AsgiClient, order: tuple[str, str]) -> None:
    other = next(name for name in order if name != "door")
    bodies = {"door": version({"$ref": f"./{other}"}), other: version(TEXT)}
    group = {"schemas": {name: bodies[name] for name in order}}
    assert asgi.ask("PUT", "/schemagroups/ovens", group).status == 201
    assert asgi.ask("GET", f"{SCHEMAS}/door$details").json["formatvalidated"] is True


def test_a_check_is_repeated_when_what_it_read_has_changed(asgi: AsgiClient, formats: Watched, store: Store) -> None:
    asgi.ask("PUT", f"{SCHEMAS}/hinge$details", version(TEXT))
    formats.asked.clear()

    def change() -> None:
        formats.meanwhile = lambda: None
        assert asgi.ask("PUT", f"{SCHEMAS}/hinge$details", version({"type": "array"})).status == 200

    formats.meanwhile = change
    assert asgi.ask("PUT", f"{SCHEMAS}/door$details", version({"$ref": "./hinge"})).status == 201
    assert sum(xid.startswith(f"{SCHEMAS}/door/") for xid in formats.asked) == 2


def test_the_last_attempt_does_not_wait_for_answers(store: Store) -> None:
    attempts = []

    def restless(tx: Any) -> str:
        attempts.append(len(attempts))
        around = Surroundings(f"/x/{len(attempts)}", lambda path: None, lambda xid: ())
        return str(tx.rules.documents.check("JsonSchema", json.dumps(len(attempts)).encode(), around).answer)

    assert write_checked(store, restless) == "no"
    assert len(attempts) == ATTEMPTS


def test_a_writer_that_waits_too_long_is_told_to_come_again(asgi: AsgiClient, store: Store) -> None:
    with store.write():
        answer = asgi.ask("PUT", "/messagegroups/ovens", {})
    assert (answer.status, answer.problem) == (503, "server_busy")
    assert int(answer.headers["retry-after"]) > 0
    assert asgi.ask("PUT", "/messagegroups/ovens", {}).status == 201


def test_a_busy_store_is_a_system_that_is_not_there_for_commands(store: Store) -> None:
    with store.write(), pytest.raises(RegistryProblem) as caught:
        write_checked(store, lambda tx: None)
    assert caught.value.exit_code == 3
    assert "writing for 0.2 seconds" in str(caught.value)


def test_a_comparison_that_is_given_up_is_kept_with_its_reason(asgi: AsgiClient) -> None:
    def xsd(most: int) -> dict[str, Any]:
        item = f'<xs:element name="a" minOccurs="1000000000" maxOccurs="{most}"/>'
        order = f'<xs:element name="o"><xs:complexType><xs:sequence>{item}</xs:sequence></xs:complexType></xs:element>'
        document = f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{order}</xs:schema>'
        return {"format": "XSD/1.0", "schema": document}

    assert asgi.ask("PUT", f"{SCHEMAS}/order$details", xsd(1_000_000_005)).status == 201
    assert asgi.ask("PATCH", f"{SCHEMAS}/order/meta", {"compatibility": "backward"}).status == 200
    written = asgi.ask("POST", f"{SCHEMAS}/order$details", xsd(1_000_000_000))
    assert written.status == 201
    assert written.json["compatibilityvalidated"] is False
    assert "too many states" in written.json["compatibilityvalidatedreason"]


def test_all_comparisons_of_a_request_share_their_time(
    asgi: AsgiClient, formats: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postroom.registry.write.deferred_checks.MOST_SECONDS", 0.0)
    asgi.ask("PUT", f"{SCHEMAS}/door$details", version(INTEGER))
    asgi.ask("PATCH", f"{SCHEMAS}/door/meta", {"compatibility": "backward"})
    written = asgi.ask("POST", f"{SCHEMAS}/door$details", version(NUMBER)).json
    assert written["compatibilityvalidated"] is False
    assert "given up after 0 seconds" in written["compatibilityvalidatedreason"]
    assert "backward" not in formats.asked


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_the_response_shows_the_check_of_a_version_that_refers_to_another_of_the_same_request(
    asgi: AsgiClient, method: str
) -> None:
    latch = f"{SCHEMAS}/latch"
    versions = {"1": version({"$ref": f"{latch}/versions/2"}), "2": version(TEXT)}
    if method == "PUT":
        sent = asgi.ask("PUT", f"{latch}$details?inline=versions", {"versions": versions})
        shown = sent.json["versions"]
    else:
        sent = asgi.ask("POST", f"{latch}/versions", versions)
        shown = sent.json
    stored = asgi.ask("GET", f"{latch}/versions").json
    assert (sent.status, shown) == (201 if method == "PUT" else 200, stored)
    assert [one["formatvalidated"] for one in stored.values()] == [True, True]
