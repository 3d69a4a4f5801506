"""Reading JSON and YAML files: bounded, with line and column for what is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from postroom.documents.media_types import Form
from postroom.errors import DocumentBroken, DocumentRefused, FileMissing
from postroom.model.json_pointers import pointer
from postroom.settings import Settings

JSON_SUFFIXES = (".json", ".cereg")
YAML_SUFFIXES = (".yaml", ".yml")
_MOST_VALUES = 5_000_000
_CONTAINERS = (dict, list)
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")

# Objects that have a member several times, with its name and a value that does not count.
Overwritten = list[tuple[dict[str, Any], str, Any]]


class RepeatedMember(NamedTuple):
    """A member that one object has several times, by its JSON pointer. The last one counts."""

    pointer: str
    differs: bool


def document_files(path: Path) -> Iterator[Path]:
    """The document files a path stands for: itself, or those in the folder, in order of their names.

    Hidden files and folders are left alone; a link that leads out of the folder is refused.
    """
    if path.is_dir():
        found = [file for file in sorted(path.rglob("*")) if _is_document(file, path)]
        if not found:
            raise FileMissing("there is no .json, .yaml or .cereg document in this folder.", place=str(path))
        root = path.resolve()
        for file in found:
            if not file.resolve().is_relative_to(root):
                raise DocumentRefused("this link leads out of the folder; it is not read.", place=str(file))
        yield from found
    elif path.exists():
        yield path
    else:
        raise FileMissing("there is no such file or folder.", place=str(path))


def _is_document(file: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return not hidden and file.suffix in (*JSON_SUFFIXES, *YAML_SUFFIXES) and file.is_file()


def read_document(path: Path, settings: Settings, report: Callable[[RepeatedMember], None] | None = None) -> Any:
    """The JSON value of a document. Members that are there several times are reported."""
    try:
        size = path.stat().st_size
        if size > settings.max_document_mb * 1_000_000:
            raise DocumentRefused(
                f"it has {size / 1_000_000:.0f} MB, more than the {settings.max_document_mb} MB that are read.",
                place=str(path),
                remedy="Raise the setting max_document_mb if that is right.",
            )
        data = path.read_bytes()
    except OSError as error:
        raise FileMissing(f"cannot be read: {error.strerror}.", place=str(path)) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentBroken(f"this is not UTF-8 text (byte {error.start}).", place=str(path)) from None
    parse = _parse_yaml if path.suffix in YAML_SUFFIXES else _parse_json
    overwritten: Overwritten = []
    value = parse(text, path, overwritten)
    if _HALF_CHARACTER.search(text) and not _is_unicode(value):
        raise DocumentBroken("a text has half of a character (a lone surrogate).", place=str(path))
    _check_depth(value, settings.max_depth, path)
    if overwritten and report is not None:
        for member in _repeated(value, overwritten):
            report(member)
    return value


def _repeated(document: Any, overwritten: Overwritten) -> Iterator[RepeatedMember]:
    """The members of a document that are there several times; what one of them hides is not looked at."""
    differs: dict[int, dict[str, bool]] = {}
    for holder, name, value in overwritten:
        found = differs.setdefault(id(holder), {})
        found[name] = found.get(name, False) or value != holder[name]
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while waiting:
        steps, value = waiting.pop()
        for name, differing in differs.pop(id(value), {}).items():
            yield RepeatedMember(pointer((*steps, name)), differing)
        if differs and isinstance(value, _CONTAINERS):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*steps, step), below) for step, below in items]


def _parse_json(text: str, path: Path | str, overwritten: Overwritten) -> Any:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            last = {name: position for position, (name, _) in enumerate(pairs)}
            overwritten.extend(
                (found, name, value) for position, (name, value) in enumerate(pairs) if position != last[name]
            )
        return found

    try:
        return json.loads(text, object_pairs_hook=members, parse_float=_finite, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise DocumentBroken(
            f"this is not valid JSON: {_json_mistake(text, error)}.", place=f"{path}:{error.lineno}:{error.colno}"
        ) from None
    except _ConstantRefused as error:
        raise DocumentBroken(f"this is not valid JSON: {error} is no number that JSON has.", place=str(path)) from None
    except ValueError:
        raise DocumentBroken("this is not valid JSON: it has a number of too many digits.", place=str(path)) from None
    except RecursionError:
        raise DocumentRefused("it is nested too deeply.", place=str(path)) from None


class _ConstantRefused(Exception):
    """NaN, an infinity or a number too large, which Python reads and JSON does not have."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantRefused(name)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _ConstantRefused(text[:20])
    return value


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _json_mistake(text: str, error: json.JSONDecodeError) -> str:
    """What is wrong, in the words of somebody who wrote it: most often a comment or a comma too many."""
    if text.startswith(("//", "/*"), error.pos):
        return "it has a comment, which JSON does not allow"
    if text[error.pos : error.pos + 1] in ("}", "]") and text[: error.pos].rstrip().endswith(","):
        return "there is a comma after the last member"
    if error.msg.startswith("Illegal trailing comma"):
        return "there is a comma after the last member"
    return error.msg


def read_yaml(text: str, place: str, settings: Settings) -> Any:
    """The JSON value of a YAML text from elsewhere."""
    value = _parse_yaml(text, place, [])
    _check_depth(value, settings.max_depth, place)
    return value


def parse_document(content: bytes, place: str, settings: Settings, form: Form) -> Any:
    """The JSON value of a document that came from elsewhere; of a member that is there twice the last one counts."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DocumentBroken("this is not UTF-8 text.", place=place) from None
    parse = _parse_yaml if form == "yaml" or place.endswith(YAML_SUFFIXES) else _parse_json
    value = parse(text, place, [])
    _check_depth(value, settings.max_depth, place)
    return value


def _parse_yaml(text: str, path: Path | str, overwritten: Overwritten) -> Any:
    import yaml

    from postroom.documents.yaml_loader import load_yaml

    try:
        value = load_yaml(text, overwritten)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise DocumentBroken(f"this is not valid YAML: {error.problem or error.context}.", place=place) from None
    except yaml.YAMLError as error:
        raise DocumentBroken(f"this is not valid YAML: {error}.", place=str(path)) from None
    except RecursionError:
        raise DocumentRefused("it is nested too deeply.", place=str(path)) from None
    return value


def _check_depth(value: Any, limit: int, path: Path | str) -> None:
    layer = [value] if value.__class__ in _CONTAINERS else []
    seen = 0
    for _ in range(limit):
        if not layer:
            return
        # YAML aliases share nodes in memory but count each time here, so that a small file cannot unfold endlessly.
        seen += sum(map(len, layer))
        if seen > _MOST_VALUES:
            raise DocumentRefused(f"it unfolds to more than {_MOST_VALUES:,} values.", place=str(path))
        layer = [
            below
            for item in layer
            for below in (item.values() if item.__class__ is dict else item)
            if below.__class__ is dict or below.__class__ is list
        ]
    raise DocumentRefused(
        f"it is nested deeper than {limit} levels.",
        place=str(path),
        remedy="Raise the setting max_depth if that is right.",
    )
