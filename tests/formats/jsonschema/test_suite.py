"""The public JSON-Schema-Test-Suite through our own interface."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from postroom.errors import SchemaRefused
from postroom.formats.jsonschema.format import parse
from postroom.formats.schema import LibraryDocument, SchemaDocument

DRAFTS = {"draft7": "draft-07", "draft2019-09": "draft/2019-09", "draft2020-12": "draft/2020-12"}
REMOTES = "http://localhost:1234/"
# Optional groups that do not pass, with the reason; docs/formats/jsonschema.md lists the same.
NOT_PASSED: dict[str, str] = {}


@pytest.fixture(scope="module")
def suite(shared: Path) -> Path:
    return shared / "suites" / "json-schema-test-suite"


class SuiteLibrary:
    """The documents that the suite expects at its own address."""

    def __init__(self, suite: Path) -> None:
        self._remotes = suite / "remotes"

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        path = self._remotes / reference.removeprefix(REMOTES)
        if not reference.startswith(REMOTES) or not path.is_file():
            return None
        return LibraryDocument(reference, path.read_bytes())

    def neighbours(self) -> Iterator[LibraryDocument]:
        return iter(())


def files(suite: Path, draft: str) -> list[Path]:
    return sorted((suite / "tests" / draft).rglob("*.json"))


def disagreements(suite: Path, path: Path, version: str) -> list[str]:
    """The tests of a file that we judge differently, as sentences."""
    # The suite asserts formats only in its optional folder of that name.
    assert_formats = path.parent.name == "format"
    found = []
    for group in json.loads(path.read_bytes()):
        source = SchemaDocument(document=group["schema"], version=version, library=SuiteLibrary(suite))
        try:
            schema = parse(msgspec.structs.replace(source, assert_formats=assert_formats))
        except SchemaRefused as error:
            found.append(f"{group['description']}: refused: {error}")
            continue
        found.extend(
            f"{group['description']}: {test['description']}: should be valid={test['valid']}"
            for test in group["tests"]
            if (schema.validate(as_payload(test["data"]))[1] == []) != test["valid"]
        )
    return found


def as_payload(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.feature("SCH-012")
@pytest.mark.parametrize("draft", DRAFTS)
def test_required_tests_agree(suite: Path, draft: str) -> None:
    required = [path for path in files(suite, draft) if "optional" not in path.parts]
    assert len(required) > 35
    assert [(path.name, wrong) for path in required if (wrong := disagreements(suite, path, DRAFTS[draft]))] == []


@pytest.mark.parametrize("draft", DRAFTS)
def test_optional_tests_agree_or_are_listed_with_a_reason(suite: Path, draft: str) -> None:
    optional = [path for path in files(suite, draft) if "optional" in path.parts]
    assert len(optional) > 8
    names = {str(path.relative_to(suite / "tests")): disagreements(suite, path, DRAFTS[draft]) for path in optional}
    wrong = {name: found for name, found in names.items() if found}
    assert wrong.keys() == {name for name in NOT_PASSED if name.startswith(f"{draft}/")}, wrong
