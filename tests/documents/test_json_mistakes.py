"""Mistakes that people make in JSON are named as such, with the line."""

from pathlib import Path

import pytest

from postroom.documents.read_files import read_document
from postroom.errors import DocumentBroken
from postroom.settings import Settings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  // ovens\n  "a": 1}', r":2:3: .* has a comment"),
        ('{"a": /* x */ 1}', "has a comment"),
        ('{"a": 1,}', "a comma after the last member"),
        ('{"a": [1,\n]}', "a comma after the last member"),
        ('{"a" 1}', "Expecting ':' delimiter"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DocumentBroken) as caught:
        read_document(path, Settings())
    caught.match(said)
