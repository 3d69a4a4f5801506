"""Constraint checks: whether a value of a message satisfies a constraint of its definition."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from postroom.messages.definitions.definition import Constraint
from postroom.messages.definitions.property_types import EVENT_RULES, checker, is_now
from postroom.messages.definitions.schema_references import is_absolute, is_same_schema, names_other_schema
from postroom.messages.definitions.templates import Template, compile_template, has_placeholder
from postroom.messages.matching.outcome import Reason
from postroom.protocols.cloudevents import header_text
from postroom.protocols.content_types import is_among, is_same_type

_URI_TYPES = ("uri", "urireference", "uritemplate")
_CONTENT_TYPES = ("datacontenttype", "content-type", "content_type")
_TYPES_OF_ANY_STRING = ("string", "uritemplate", "any")


class Check:
    """One constraint, compiled for checking values; the last placeholder of one that `is_wide` takes `/` as well."""

    def __init__(self, constraint: Constraint, message: str, *, is_wide: bool = False) -> None:
        self.constraint = constraint
        self.message = message
        self.path = constraint.path
        self.template: Template | None = None
        self.constant: str | None = None
        self.has_type = checker(constraint.type)
        rule = EVENT_RULES.get(constraint.event_rule)
        self.rule_in_words = "" if rule is None else rule[0]
        self.keeps_rule: Callable[[Any], bool] | None = None if rule is None else rule[1]
        self.takes_any_string = False
        value = constraint.value
        # A timestamp that holds a placeholder or a "now" sentinel only demands RFC 3339.
        if value is None or (constraint.type == "timestamp" and (is_now(value) or has_placeholder(value))):
            self.takes_any_string = constraint.type in _TYPES_OF_ANY_STRING
            return
        self.template = template_of(constraint, is_wide=is_wide)
        if self.template is not None:
            # What the author wrote around placeholders says how much of a URI it is.
            self.takes_any_string = constraint.type in (*_TYPES_OF_ANY_STRING, *_URI_TYPES)
        else:
            self.constant = header_text(value)
            if self.keeps_rule is not None and not constraint.implied and self.keeps_rule(self.constant):
                self.keeps_rule = None  # what equals it keeps the rule as well

    @property
    def has_own_value(self) -> bool:
        """Whether messages say the constant as it is written; a reference to a schema has to be a URI for that."""
        constraint = self.constraint
        return self.constant is not None and not (
            constraint.implied and constraint.path == ("dataschema",) and not is_absolute(self.constant)
        )

    def problem(self, value: Any, variables: dict[str, str]) -> Reason | None:
        """Check a value and add the placeholders that it binds to `variables`; None when it fits."""
        constraint = self.constraint
        if value is None:
            return self._reason("required_missing", self._expected(), "nothing") if constraint.required else None
        found: Reason | None = None
        if self.constant is not None:
            if not self._equal(header_text(value), self.constant):
                found = self._reason("constant_mismatch", self.constant, value)
        elif self.template is not None:
            found = self._bind(self.template, header_text(value), variables)
            if found is None and not self.takes_any_string and not self.has_type(value):
                found = self._reason("type_mismatch", constraint.type, value)
        elif not self.has_type(value):
            found = self._reason("type_mismatch", constraint.type, value)
        if found is None and self.keeps_rule is not None and not self.keeps_rule(value):
            return self._reason("event_rule", self.rule_in_words, value)
        return found

    def _equal(self, found: str, wanted: str) -> bool:
        accepts = self.constraint.accepts
        if self.path[-1].lower() in _CONTENT_TYPES:
            return is_same_type(found, wanted) or is_among(found, accepts)
        if self.path == ("dataschema",):
            # An xid is no URI that another could differ from, and what is no URI itself says nothing of one.
            says_little = not is_absolute(found) and self.constraint.implied and not is_absolute(wanted)
            if self.constraint.implied == "dataschemaxid" or says_little:
                return not names_other_schema(found, wanted, accepts)
            return is_same_schema(found, wanted, accepts)
        if found == wanted:
            return True
        same = _SAME_VALUE.get(self.constraint.type)
        return same is not None and same(found, wanted)

    def _bind(self, template: Template, value: str, variables: dict[str, str]) -> Reason | None:
        bound = template.extract(value)
        if bound is None:
            return self._reason("template_mismatch", template.text, value)
        for name, string in bound.items():
            known = variables.setdefault(name, string)
            if known == string or (template.alone and unquote(string) == known):
                continue
            if unquote(known) != string:  # what was bound by a placeholder alone may be encoded
                return self._reason("variable_conflict", f"{{{name}}} = {known}", string)
            variables[name] = string
        return None

    def _expected(self) -> str:
        if self.constraint.value is not None:
            return str(self.constraint.value)
        if self.constraint.type == "any":
            return "any value"
        return f"{'an' if self.constraint.type[:1] in 'aeiou' else 'a'} {self.constraint.type}"

    def _reason(self, code: str, expected: str, found: Any) -> Reason:
        return Reason(self.message, self.constraint.at, code, expected, shorten(found))


def template_of(constraint: Constraint, *, is_wide: bool = False) -> Template | None:
    """The template that values have to follow; DefinitionRefused where it is none that can be used."""
    if constraint.type == "timestamp" or not has_placeholder(constraint.value):
        return None
    return compile_template(constraint.value, _is_uri(constraint), _is_reference(constraint), is_wide)


def is_required(value: Any, type_name: str, stated: Any) -> bool:
    """Whether a property with this value (None for none), type and `required` must be there.

    `required` is false by default (MSG-037), and a fixed value "MUST be literally present" all the same (MSG-045). That
    has exceptions: a timestamp may only say how one is made, and a template whose author says so may be absent.
    """
    if value is None or stated is True:
        return stated is True
    if not has_placeholder(value):
        return not (type_name == "timestamp" and is_now(value))
    return type_name != "timestamp" and stated is not False


def _is_uri(constraint: Constraint) -> bool:
    # Topics, subjects and keys are plain strings to brokers, also with placeholders in them: only HTTP sends a URI.
    is_path = constraint.at == "/protocoloptions/path"
    is_attribute = constraint.at.startswith("/envelopemetadata/")
    return _is_reference(constraint) or (constraint.type in _URI_TYPES and (is_path or is_attribute))


def _is_reference(constraint: Constraint) -> bool:
    """Whether an attribute is a URI whatever its template says: by the rules of CloudEvents, or by its type."""
    if not constraint.at.startswith("/envelopemetadata/"):
        return False
    is_event = bool(constraint.event_rule) or constraint.path == ("dataschema",)
    return constraint.type in ("uri", "urireference") or (is_event and constraint.path[0] in ("source", "dataschema"))


def _same_number(found: str, wanted: str) -> bool:
    # 1, 1.0 and 1e0 are one number; producers write what their languages write.
    is_number = checker("number")
    return is_number(found) and is_number(wanted) and float(found) == float(wanted)


def _same_bytes(found: str, wanted: str) -> bool:
    try:
        return base64.b64decode(found, validate=True) == base64.b64decode(wanted, validate=True)
    except ValueError:
        return False


# Types whose values can be written in several ways.
_SAME_VALUE: dict[str, Callable[[str, str], bool]] = {"number": _same_number, "binary": _same_bytes}


def shorten(value: Any, limit: int = 200) -> str:
    """A value as a string for people, cut where it gets long."""
    string = header_text(value) if not isinstance(value, bytes) else value.decode(errors="replace")
    return string if len(string) <= limit else string[: limit - 1] + "…"
