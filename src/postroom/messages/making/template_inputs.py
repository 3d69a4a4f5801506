"""Inputs of a message template: values of placeholders, and of attributes and options that a definition leaves open."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import msgspec

from postroom.errors import MakeRefused
from postroom.messages.definitions.constraints import Check, shorten
from postroom.messages.definitions.templates import is_plain
from postroom.messages.making.metadata_placement import Placement
from postroom.messages.matching.explain import explain_reason
from postroom.protocols.cloudevents import header_text

# CloudEvents has these whether a definition names them or not (MSG-056).
_OPTIONAL = ("subject", "dataschema", "time")
_EMPTY: Mapping[str, Any] = MappingProxyType({})


class TemplateInputs(msgspec.Struct, frozen=True, gc=False):
    """Values of placeholders, of attributes and of protocol options.

    `names` are those of the last two, and of placeholders that need no value; `plain` says that placeholders have only
    plain characters (`is_plain`).
    """

    values: Mapping[str, str]
    attributes: Mapping[str, Any] = _EMPTY
    options: Mapping[str, Any] = _EMPTY
    names: tuple[str, ...] = ()
    plain: bool = False


class TemplateParameters:
    """The inputs that one definition accepts; `envelope` is None where it has no CloudEvents envelope."""

    def __init__(self, xid: str, envelope: list[Check] | None, placements: list[Placement]) -> None:
        self._xid = xid
        checks = [*(envelope or ()), *(placement.check for placement in placements)]
        self.variables = _placeholders(check for check in checks if check.constraint.required)
        """The placeholders that need a value, in the order they appear."""
        self._is_variable = frozenset(_placeholders(checks))
        self._optional = [
            check.template.names for check in checks if check.template is not None and not check.constraint.required
        ]
        # It returns a tuple for two names or more.
        twice = self.variables * 2 if len(self.variables) == 1 else self.variables
        self._values = itemgetter(*twice) if twice else lambda _given: ()
        self._open = _open_targets(envelope, placements)
        self._fixed = {
            c.path[0]: c.constraint.value for c in envelope or () if c.constant is not None and not c.constraint.implied
        }

    def bind(self, given: Mapping[str, Any]) -> TemplateInputs:
        """Sort values by what their names mean: placeholders first, then open attributes and options.

        MakeRefused names everything that is missing or wrong.
        """
        if len(given) == len(self.variables):
            try:
                strings = self._values(given)
                joined = "".join(strings)
                is_ascii = joined.isascii()
                if "" not in strings and (is_ascii or _is_encodable(joined)):  # as nearly always
                    return TemplateInputs(given, plain=is_ascii and (joined.isalnum() or is_plain(joined)))
            except (KeyError, TypeError):
                pass  # one is missing, or no string
        values: dict[str, str] = {}
        attributes: dict[str, Any] = {}
        options: dict[str, Any] = {}
        problems: list[str] = []
        for name, value in given.items():
            target = self._open.get(name)
            string = value if type(value) is str else header_text(value)
            if not (string.isascii() or _is_encodable(string)) or (string is not value and _no_string(target, value)):
                problems.append(f"{name} is not text that can be sent")
            elif name in self._is_variable:
                values[name] = string
            elif isinstance(target, Placement):
                options[target.name] = _checked(target.check, value, problems)
            elif name in self._open:
                attributes[name] = value if target is None else _checked(target, value, problems)
            else:
                problems.append(self._unknown(name))
        missing = self._missing(values)
        if problems or missing:
            raise self._refused(problems, missing)
        optional = [name for name in values if name not in self.variables]
        names = (*attributes, "", *options, "", *optional) if attributes or options or optional else ()
        return TemplateInputs(values, attributes, options, names, is_plain("".join(values.values())))

    def _missing(self, values: Mapping[str, str]) -> list[str]:
        """The placeholders without a value that need one; also where others of something optional have one."""
        begun = (names for names in self._optional if any(n in values and n not in self.variables for n in names))
        needed = dict.fromkeys((*self.variables, *(name for names in begun for name in names)))
        return [name for name in needed if not values.get(name)]

    def _refused(self, problems: list[str], missing: list[str]) -> MakeRefused:
        if missing:
            problems = [*problems, f"values are missing for {', '.join(missing)}"]
        remedy = f"Give each one, like {missing[0]}=VALUE." if missing else ""
        return MakeRefused(f"{'; '.join(problems)}.", place=self._xid, remedy=remedy)

    def _unknown(self, name: str) -> str:
        fixed = self._fixed.get(name)
        if fixed is not None:
            return f"{name} is fixed: it is {shorten(fixed)!r}"
        known = sorted({*self._is_variable, *(name for name in self._open if not name.startswith("protocoloptions."))})
        return f"the definition has no variable {name!r}; it has: {', '.join(known) or 'none'}"


def _placeholders(checks: Iterable[Check]) -> tuple[str, ...]:
    names = (name for check in checks if check.template is not None for name in check.template.names)
    return tuple(dict.fromkeys(names))


def is_open(check: Check) -> bool:
    """Whether a definition leaves a value to the sender."""
    return check.constant is None and check.template is None


def _open_targets(envelope: list[Check] | None, placements: Iterable[Placement]) -> dict[str, Check | Placement | None]:
    """Attributes and options that the definition leaves open, by name."""
    targets: dict[str, Check | Placement | None] = {}
    for placement in placements:
        if is_open(placement.check):
            targets[f"protocoloptions.{placement.name}"] = targets[placement.name] = placement
    if envelope is not None:
        declared = {check.path[0] for check in envelope}
        targets |= {name: None for name in _OPTIONAL if name not in declared}
        # What is only implied may be said in other words.
        targets |= {check.path[0]: check for check in envelope if is_open(check) or check.constraint.implied}
    return targets


def _checked(check: Check, value: Any, problems: list[str]) -> Any:
    value = _parsed(check.constraint.type, value)
    reason = check.problem(value, {})
    if reason is not None:
        problems.append(explain_reason(reason))
    return value


def _no_string(target: Check | Placement | None, value: Any) -> bool:
    """Whether a value has no string form for a placeholder or attribute; protocol options have types of their own."""
    if value is None or isinstance(target, Placement):
        return value is None
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, bytes | bytearray | Mapping | list | tuple | set)


def _is_encodable(string: str) -> bool:
    try:
        string.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _parsed(type_name: str, value: Any) -> Any:
    """Parse a string given for a number or a boolean; one that does not parse is left for the check to report."""
    if not isinstance(value, str) or type_name not in ("integer", "number", "boolean"):
        return value
    try:
        return msgspec.json.decode(value.encode())
    except msgspec.DecodeError:
        return value
