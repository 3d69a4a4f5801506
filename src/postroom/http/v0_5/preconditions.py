"""Preconditions of a write: the ids, versions and epochs in it have to be the current ones."""

from __future__ import annotations

from typing import Any

from postroom.documents.dialects.dialect import Tree
from postroom.registry.problems import RegistryProblem

_LONGEST = 30
_OF_THE_SERVER = ("id", "epoch", "version", "self", "versions", "meta")


def check_id(given: Any, expected: str, singular: str, subject: str) -> None:
    """An id that is repeated has to be the one of the URL."""
    if given is not None and given != expected:
        raise RegistryProblem("mismatched_id", subject, singular=singular, invalid_id=given, expected_id=expected)


def check_version(given: Any, expected: str, subject: str) -> None:
    """A version that is named has to be the one that is written."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | str) or str(given) != expected):
        raise RegistryProblem("mismatched_id", subject, singular="version", invalid_id=given, expected_id=expected)


def check_epoch(given: Any, current: int, subject: str) -> None:
    """An epoch that is named has to be the present one."""
    if given is None:
        return
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) <= _LONGEST:
        given = int(given)
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        detail = "must be a whole number"
        raise RegistryProblem("invalid_attribute", subject, name="epoch", error_detail=detail, pointer="/epoch")
    if given != current:
        raise RegistryProblem("mismatched_epoch", subject, bad_epoch=given, epoch=current)


def take_conditions(
    document: Tree, subject: str, *, entity_id: str, singular: str, epoch: int, version: str = ""
) -> Tree:
    """An entity without what the server says about it: ids and epochs are compared, the rest is nobody's business."""
    check_id(document.get("id"), entity_id, singular, subject)
    check_epoch(document.get("epoch"), epoch, subject)
    if version:
        check_version(document.get("version"), version, subject)
    return {name: value for name, value in document.items() if name not in _OF_THE_SERVER}
