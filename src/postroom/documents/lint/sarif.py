"""Findings as SARIF 2.1.0, the form that code hosts and editors show beside the lines they concern."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from postroom.documents.lint.findings import Finding, Severity
from postroom.documents.lint.rule_table import RULES, SEVERITY_OF
from postroom.documents.read_files import YAML_SUFFIXES
from postroom.documents.source_positions import Position, positions
from postroom.urls import scheme_of
from postroom.version import VERSION

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def sarif(
    findings: Sequence[Finding], tool: str = "postroom lint", others: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """One SARIF log with one run; `others` describes codes that are none of lint's."""
    results: list[dict[str, Any]] = []
    for file, found in groupby(findings, key=lambda finding: finding.file):
        listed = list(found)
        found_at = _positions(file, listed)
        results += [_result(finding, found_at.get(finding.pointer)) for finding in listed]
    driver = {"name": tool, "semanticVersion": VERSION, "rules": _rules({one.code for one in findings}, others or {})}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _positions(file: str, findings: list[Finding]) -> dict[str, Position]:
    path = Path(file)
    if scheme_of(file) or not path.is_file():
        return {}
    pointers = {finding.pointer for finding in findings}
    return positions(path.read_text(encoding="utf-8-sig"), pointers, is_yaml=path.suffix in YAML_SUFFIXES)


def _result(finding: Finding, position: Position | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file)}}
    if position is not None:
        physical["region"] = {"startLine": position[0], "startColumn": position[1]}
    logical = [{"fullyQualifiedName": finding.pointer or "/"}]
    fingerprint = hashlib.sha256(f"{finding.code} {finding.pointer}".encode()).hexdigest()[:32]
    return {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": " ".join(filter(None, (finding.sentence, finding.remedy)))},
        "locations": [{"physicalLocation": physical, "logicalLocations": logical}],
        "partialFingerprints": {"postroom/v1": fingerprint},
    }


def _uri(file: str) -> str:
    if scheme_of(file):
        return file
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _rules(codes: set[str], others: Mapping[str, str]) -> list[dict[str, Any]]:
    descriptions = {rule.code: (rule.find.__doc__ or "").strip() for rule in RULES} | dict(others)
    return [
        {
            "id": code,
            "shortDescription": {"text": descriptions.get(code) or code.replace("_", " ")},
            "defaultConfiguration": {"level": _LEVELS[SEVERITY_OF.get(code, "warning")]},
        }
        for code in sorted(codes)
    ]
