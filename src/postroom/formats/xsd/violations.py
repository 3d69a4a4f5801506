"""Violations made of validators' messages: the element's path, the rule, what was expected and found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree
from xmlschema.validators import XsdPatternFacets

from postroom.formats.schema import Violation
from postroom.formats.show_value import shorten
from postroom.formats.xsd.libxml_errors import MESSAGES
from postroom.formats.xsd.schema_limits import KEPT_PATTERN
from postroom.formats.xsd.xml_names import local_name

MOST = 20


def from_native(root: Any, log: Any) -> list[Violation]:
    """The violations in libxml2's log."""
    found: dict[Violation, None] = {}
    prefixes = {name: uri for node in root.iter() for name, uri in node.nsmap.items() if name}
    for entry in log:
        element = _element(root, entry.path, prefixes)
        at = path_of(element) if element is not None else ""
        attribute = re.match(r"Element '.*?', attribute '(.*?)': ", entry.message)
        if attribute and "is not allowed" not in entry.message:
            at = f"{at}/@{local_name(attribute[1])}"
        found[_taken_apart(at, entry, element)] = None
        if len(found) >= MOST:
            break
    return list(found)


def from_stream(log: Any) -> list[Violation]:
    """The violations that were found while a large payload was read; libxml2 does not say where they are then."""
    return list(dict.fromkeys(_taken_apart("", entry, None) for entry in list(log)[:MOST]))


def _taken_apart(at: str, entry: Any, element: Any) -> Violation:
    named = re.match(r"Element '(.*?)'", entry.message)
    tag = f"<{local_name(element.tag)}>" if element is not None else f"<{local_name(named[1])}>" if named else "it"
    # Long values first: what follows them tells what the message is about.
    short = re.sub(r"'([^']{80})[^']+'", r"'\1…'", entry.message)[:2_000]
    message = re.sub(r"^Element '[^']*'(, attribute '[^']*')?: (\[facet '\w+'\] )?", "", short).strip()
    for pattern, rule, expected, found in MESSAGES:
        match = pattern.search(message)
        if match:
            parts = [_plain(part) for part in match.groups()]
            return Violation(
                at,
                f"payload_xsd_{rule}",
                shorten(expected.format(*parts, tag=tag)),
                shorten(found.format(*parts, tag=tag)),
            )
    rule = entry.type_name.removeprefix("SCHEMAV_").removeprefix("CVC_").lower()
    return Violation(at, f"payload_xsd_{rule}", "as the schema says", shorten(_plain(message)))  # fmt: skip


def _plain(text: str) -> str:
    names = re.sub(r"##other\{[^}]*\}\*", "an element of another namespace", text)
    plain = re.sub(r"\{[^{}'\s]*[:/][^{}'\s]*\}(?=[\w*])", "", names).strip().rstrip(".")
    return plain[1:-1] if len(plain) > 2 and plain[0] == plain[-1] == "'" and "', '" not in plain else plain


def from_python(root: Any, errors: Iterator[Any]) -> list[Violation]:
    """The violations that xmlschema finds."""
    found: dict[Violation, None] = {}
    for error in errors:
        element = error.elem if etree.iselement(error.elem) else root
        reason = " ".join(str(error.reason or error.message or "").split())
        validator = getattr(error, "validator", None)
        found[_python_violation(path_of(element), element, reason, validator, error)] = None
        if len(found) >= MOST:
            break
    return list(found)


def _python_violation(at: str, element: Any, reason: str, validator: Any, error: Any) -> Violation:
    expected = getattr(error, "expected", None)
    if expected:
        names = " or ".join(str(getattr(one, "local_name", None) or "another element") for one in expected)
        if "not complete" in reason:
            return Violation(at, "payload_xsd_missing", shorten(f"an element that holds {names}"), "without it")
        invalid = getattr(error, "invalid_child", None)
        shown = f"<{local_name((element if invalid is None else invalid).tag)}>"
        return Violation(at, "payload_xsd_content", shorten(names), shown)
    stray = re.match(r"Unexpected child with tag '(.*?)'", reason)
    if stray:
        return Violation(at, "payload_xsd_content", f"without a child {local_name(stray[1])}", "with one")
    if isinstance(validator, XsdPatternFacets):
        reason = "text like " + " or ".join(str(one.get(KEPT_PATTERN) or one.get("value")) for one in validator)
    value = getattr(error, "obj", None)
    shown = value if isinstance(value, str) else f"<{local_name(element.tag)}>"
    return Violation(at, f"payload_xsd_{_rule(validator)}", shorten(_plain(reason)) or "valid", shorten(shown))


def _rule(validator: Any) -> str:
    name = re.sub(r"^Xsd|Facets?$|1[01]|Group$", "", type(validator).__name__)
    snake = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()
    return "type" if snake in _ABOUT_VALUES else snake or "content"


_ABOUT_VALUES = ("function", "method", "atomic_builtin", "atomic_restriction", "list", "union", "simple_type")


def path_of(element: Any) -> str:
    """The path of an element, with numbers where siblings have the same name."""
    steps: list[str] = []
    while element is not None:
        parent = element.getparent()
        step = local_name(element.tag)
        if parent is not None:
            before = sum(1 for _ in element.itersiblings(element.tag, preceding=True))
            if before or next(element.itersiblings(element.tag), None) is not None:
                step = f"{step}[{before + 1}]"
        steps.append(step)
        element = parent
    return "/" + "/".join(reversed(steps))


def _element(root: Any, path: str | None, prefixes: dict[str, str]) -> Any:
    if not path:
        return root
    try:
        found = root.getroottree().xpath(re.sub(r"/?@.*$", "", path), namespaces=prefixes or None)
    except etree.XPathError:
        return root
    return found[0] if found and etree.iselement(found[0]) else root
