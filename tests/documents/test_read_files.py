from pathlib import Path
from typing import Any

import pytest

from postroom.documents.read_files import document_files, read_document
from postroom.errors import DocumentBroken, DocumentRefused, FileMissing, PostroomError
from postroom.settings import Settings

SETTINGS = Settings(max_document_mb=1, max_depth=16)


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("a.json", '{"a": [1, 2.5, null]}', {"a": [1, 2.5, None]}),
        ("a.json", "\ufeff{}", {}),
        ("a.cereg", '{"a": 1}', {"a": 1}),
        ("a.yaml", "a: [1, 2.5, null, true]", {"a": [1, 2.5, None, True]}),
        ("a.yml", "when: 2026-11-15\nat: 2026-11-15T20:00:00Z", {"when": "2026-11-15", "at": "2026-11-15T20:00:00Z"}),
        ("a.json", '{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (
            "a.yaml",
            "a: [no, yes, off, 12:30, 1_0, 0o7, 2026-11-15]",
            {"a": ["no", "yes", "off", "12:30", "1_0", "0o7", "2026-11-15"]},
        ),
        ("a.yaml", "a: [~, '', null, 007, -1.5e3, +2, True]", {"a": [None, "", None, 7, -1500.0, 2, True]}),
        ("a.yaml", "base: &b {x: 1}\na: {<<: *b, y: 2}", {"base": {"x": 1}, "a": {"x": 1, "y": 2}}),
        ("a.yaml", "1: one\ntrue: yes it is", {"1": "one", "true": "yes it is"}),
        ("a.yaml", "a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
    ],
)
def test_values(tmp_path: Path, name: str, text: str, value: Any) -> None:
    assert read_document(write(tmp_path, name, text), SETTINGS) == value


@pytest.mark.parametrize(
    ("name", "text", "error", "place", "says"),
    [
        ("a.json", '{"a": 1,\n "b" 2}', DocumentBroken, ":2:6", "not valid JSON"),
        ("a.json", "{", DocumentBroken, ":1:2", "not valid JSON"),
        ("a.json", "", DocumentBroken, ":1:1", "not valid JSON"),
        ("a.json", '{"a": NaN}', DocumentBroken, "a.json", "NaN is no number"),
        ("a.json", '{"a": 1e400}', DocumentBroken, "a.json", "1e400 is no number"),
        ("a.json", '{"a": "\\ud800"}', DocumentBroken, "a.json", "half of a character"),
        ("a.yaml", "a: .inf", DocumentBroken, ":1:4", "no number that JSON has"),
        ("a.yaml", "a: -.INF", DocumentBroken, ":1:4", "no number that JSON has"),
        ("a.yaml", "a: .nan", DocumentBroken, ":1:4", "no number that JSON has"),
        ("a.yaml", "a: 1e999", DocumentBroken, ":1:4", "no number that JSON has"),
        ("a.yaml", "a: !!timestamp 2026-11-15", DocumentBroken, ":1:4", "could not determine a constructor"),
        ("a.yaml", "a: 1\n---\na: 2", DocumentBroken, ":2:1", "another document"),
        ("a.json", '{"a": ' + "9" * 5000 + "}", DocumentBroken, "a.json", "too many digits"),
        ("a.json", b'{"a": "\xff"}', DocumentBroken, "a.json", "not UTF-8 text .byte 7"),
        ("a.json", "[" * 20 + "]" * 20, DocumentRefused, "a.json", "deeper than 16 levels"),
        ("a.json", "[" * 100_000 + "]" * 100_000, DocumentRefused, "a.json", "nested too deeply"),
        ("a.json", '"' + "x" * 1_100_000 + '"', DocumentRefused, "a.json", "more than the 1 MB"),
        ("a.yaml", "a: 1\n b: 2", DocumentBroken, ":2:3", "not valid YAML"),
        ("a.yaml", "a: !!python/object:os.system x", DocumentBroken, ":1:4", "could not determine a constructor"),
        ("a.yaml", "? [a]\n: 1", DocumentBroken, ":1:3", "a key must be text"),
        ("a.yaml", "a: *nothing", DocumentBroken, ":1:4", "undefined alias"),
        ("a.yaml", "\x00", DocumentBroken, "a.yaml", "not valid YAML"),
    ],
)
def test_what_is_wrong_has_a_place(
    tmp_path: Path, name: str, text: str | bytes, error: type[PostroomError], place: str, says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        read_document(write(tmp_path, name, text), SETTINGS)
    assert caught.value.place.endswith(place)


REPEATED = [
    ("a.json", '{"a": 1, "a": 2}', {"a": 2}, [("/a", True)]),
    ("a.json", '{"b": [{}, {"x/y": {}, "x/y": {}}]}', {"b": [{}, {"x/y": {}}]}, [("/b/1/x~1y", False)]),
    ("a.json", '{"b": 1, "\\u0062": 1, "b": true, "b": 1}', {"b": 1}, [("/b", False)]),
    ("a.json", '{"b": {"c": 1, "c": 2}, "b": {"c": 3}}', {"b": {"c": 3}}, [("/b", True)]),
    ("a.yaml", "a: 1\nb: {x: 1, x: 2}\na: 1", {"a": 1, "b": {"x": 2}}, [("/a", False), ("/b/x", True)]),
    ("a.yaml", "b: &b {x: 1}\na: {<<: *b, x: 2}", {"b": {"x": 1}, "a": {"x": 2}}, []),
    ("a.yaml", "b: &b {x: 1, x: 2}\na: *b", {"b": {"x": 2}, "a": {"x": 2}}, [("/a/x", True)]),
]


@pytest.mark.audit("registry-22")
@pytest.mark.parametrize(("name", "text", "value", "repeated"), REPEATED)
def test_the_last_of_repeated_members_counts_and_is_reported(
    tmp_path: Path, name: str, text: str, value: Any, repeated: list[tuple[str, bool]]
) -> None:
    found: list[tuple[str, bool]] = []
    assert read_document(write(tmp_path, name, text), SETTINGS, found.append) == value
    assert found == repeated


def test_aliases_that_explode_are_refused(tmp_path: Path) -> None:
    layers = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 10)]
    bomb = write(tmp_path, "bomb.yaml", "\n".join(["l0: &l0 [x, x]", *layers]))
    with pytest.raises(DocumentRefused, match="unfolds to more than"):
        read_document(bomb, Settings())


def test_files_of_a_folder_come_in_order(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.json", "notes.txt"):
        write(tmp_path, name, "{}")
    assert [path.name for path in document_files(tmp_path)] == ["a.json", "b.yaml"]


def test_missing_things(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="no such file"):
        list(document_files(tmp_path / "none.json"))
    with pytest.raises(FileMissing, match="no .json, .yaml or .cereg"):
        list(document_files(tmp_path))


def test_hidden_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".cache").mkdir()
    for name in ("a.json", ".b.json", ".cache/c.json"):
        write(tmp_path, name, "{}")
    assert [path.name for path in document_files(tmp_path)] == ["a.json"]


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    write(tmp_path, "secret.json", "{}")
    (tmp_path / "inner" / "link.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(DocumentRefused, match="leads out of the folder"):
        list(document_files(tmp_path / "inner"))
