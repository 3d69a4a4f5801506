"""The routes of the mount, and its documentation."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from postroom.http.confluent.mount import READS, WRITES
from postroom.http.confluent.refusals import SENTENCES
from tests.http.confluent.subject_client import SubjectClient

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "schema-registry.md"


def test_the_reference_has_all_routes_with_their_methods() -> None:
    documented = defaultdict(set)
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `/"):
            for path in re.findall(r"`(/[^`]*)`", cells[0]):
                parts = tuple(re.sub(r"\{\w+\}", "*", part) for part in path.strip("/").split("/") if part)
                documented[parts] |= set(re.findall(r"[A-Z]{3,}", cells[1]))
    routes = {route: {*READS.get(route, {}), *WRITES.get(route, {})} for route in (*READS, *WRITES)}
    assert documented == routes


def test_the_reference_has_all_codes() -> None:
    text = PAGE.read_text()
    assert [code for code in SENTENCES if not re.search(rf"\b{code}\b", text)] == []


def test_a_known_link_leads_to_it_from_the_root(subjects: SubjectClient) -> None:
    links = [value for name, value in subjects.ask("GET", "/").raw if name == b"link"]
    assert b'<http://registry.example/confluent>;rel=alternate;title="Schema Registry"' in links


def test_a_subject_cannot_leave_its_path(subjects: SubjectClient) -> None:
    for name in ("..", "%2e%2e%2fkeys", "a%00b", "%ff"):
        status, _ = subjects.call("GET", f"/subjects/{name}/versions")
        assert status == 404
