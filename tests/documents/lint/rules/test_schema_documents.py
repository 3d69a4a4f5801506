"""Rules that read schema documents: references between them, and Versions that follow one another."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.documents.lint.findings import Finding
from postroom.documents.lint.rules import schema_documents
from postroom.errors import SchemaRefused
from postroom.formats.schema import Verdict
from tests.documents.lint.catalogs import (
    MOVED,
    POSITION,
    SCHEMA,
    lint,
    spoilt,
    with_message,
    with_schema,
    with_versions,
)

STRICTER = {**POSITION, "required": ["lat", "lon"]}


class NamesMissing(SchemaRefused):
    """What a format raises for a reference that leads nowhere."""

    code = "reference_missing"


def found(tree: dict[str, Any], code: str) -> list[Finding]:
    return [finding for finding in lint(tree) if finding.code == code]


def answering(verdict: Verdict, asked: list[tuple[Any, Any]]) -> Any:
    def readable_documents(writer: tuple[Any, ...], reader: tuple[Any, ...], **_: bool) -> Verdict:
        asked.append((writer[1], reader[1]))
        return verdict

    return readable_documents


@pytest.mark.feature("SCH-009", "SCH-025", "SCH-027", "SCH-028")
@pytest.mark.parametrize(
    ("mode", "pairs"),
    [
        ("backward", [(POSITION, STRICTER)]),
        ("forward", [(STRICTER, POSITION)]),
        ("full", [(POSITION, STRICTER), (STRICTER, POSITION)]),
    ],
)
def test_versions_are_compared_as_their_compatibility_says(
    monkeypatch: pytest.MonkeyPatch, mode: str, pairs: list[Any]
) -> None:
    asked: list[tuple[Any, Any]] = []
    monkeypatch.setattr(schema_documents, "readable_documents", answering(Verdict(answer="compatible"), asked))
    assert not found(with_versions(mode, POSITION, STRICTER), "schema_incompatible")
    assert asked == pairs


def test_the_counterexample_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Verdict(answer="incompatible", reason="lon is required", shown='{"lat": 1}', reader_at="/required")
    monkeypatch.setattr(schema_documents, "readable_documents", answering(verdict, []))
    [finding] = found(with_versions("backward", POSITION, STRICTER), "schema_incompatible")
    assert finding.severity == "error"
    assert finding.pointer == f"{SCHEMA}/versions/2/schema/required"
    assert '{"lat": 1}' in finding.sentence


@pytest.mark.parametrize(
    ("mode", "place"),
    [("backward", "/r"), ("backward_transitive", "/r"), ("forward", "/w"), ("full", "")],
)
def test_the_place_is_the_one_in_the_newer_document(monkeypatch: pytest.MonkeyPatch, mode: str, place: str) -> None:
    verdict = Verdict(answer="incompatible", reason="it is", writer_at="/w", reader_at="/r")
    monkeypatch.setattr(schema_documents, "readable_documents", answering(verdict, []))
    [finding] = found(with_versions(mode, POSITION, STRICTER), "schema_incompatible")
    assert finding.pointer == f"{SCHEMA}/versions/2/schema{place}"


def test_formats_answer_with_a_counterexample_of_their_own() -> None:
    [finding] = found(with_versions("backward", POSITION, STRICTER), "schema_incompatible")
    assert "Counterexample: {" in finding.sentence
    assert not found(with_versions("forward", POSITION, STRICTER), "schema_incompatible")


def test_doubt_is_for_information(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        schema_documents, "readable_documents", answering(Verdict(answer="undecided", reason="too deep"), [])
    )
    [finding] = found(with_versions("backward_transitive", POSITION, STRICTER), "schema_undecided")
    assert finding.severity == "info"


def test_ancestors_are_followed_where_they_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, Any]] = []
    monkeypatch.setattr(schema_documents, "readable_documents", answering(Verdict(answer="compatible"), asked))
    tree = with_versions("backward", POSITION, {"title": "b"}, STRICTER)
    tree["schemagroups"]["fleet.schemas"]["schemas"]["position"]["versions"]["3"]["ancestorid"] = "1"
    lint(tree)
    assert (POSITION, STRICTER) in asked


def test_a_reference_between_documents_that_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(name: str, document: Any, library: Any = None) -> None:
        raise NamesMissing("the catalog has no common.json.", place="/properties/lat/$ref")

    monkeypatch.setattr(schema_documents, "check_schema", check)
    [finding] = found(spoilt({}), "schema_reference_missing")
    assert finding.pointer == f"{SCHEMA}/versions/1/schema/properties/lat/$ref"
    assert not found(spoilt({}), "schema_refused")


def test_line_and_column_go_into_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(name: str, document: Any, library: Any = None) -> None:
        raise SchemaRefused("this is not JSON.", place="3:7")

    monkeypatch.setattr(schema_documents, "check_schema", check)
    [finding] = found(spoilt({}), "schema_refused")
    assert finding.pointer == f"{SCHEMA}/versions/1/schema"
    assert finding.sentence == "at 3:7: this is not JSON."


def test_a_refused_document_is_one_finding_and_not_one_per_message() -> None:
    tree = with_schema({"versions": {"1": {"schema": {"type": 3}}}})
    assert len(found(tree, "schema_refused")) == 1
    assert not found(tree, "schema_type_missing")


def test_a_changed_schema_is_checked_again_with_the_messages_that_use_it() -> None:
    tree = with_message({"dataschemauri": f"{SCHEMA}#/definitions/here"})
    schema = tree["schemagroups"]["fleet.schemas"]["schemas"]["position"]
    schema["versions"]["1"]["schema"] = {"definitions": {"here": POSITION}}
    assert not found(tree, "schema_type_missing")
    schema["versions"]["2"] = {"format": "JsonSchema/draft-07", "schema": {"definitions": {}}}
    assert [finding.pointer for finding in found(tree, "schema_type_missing")] == [f"{MOVED}/dataschemauri"]


def test_a_format_that_is_not_there_yet_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(name: str, *documents: Any, **_: Any) -> None:
        raise ImportError(name)

    monkeypatch.setattr(schema_documents, "check_schema", check)
    monkeypatch.setattr(schema_documents, "parse_schema", check)
    monkeypatch.setattr(schema_documents, "readable_documents", check)
    assert lint(with_versions("full", POSITION, STRICTER)) == []
