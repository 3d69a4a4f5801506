"""Compilation of validators with jsonschema-rs: bounded patterns, no network, errors with a JSON pointer."""

from __future__ import annotations

from typing import Any, NoReturn

import jsonschema_rs

from postroom.errors import ReferenceMissing, SchemaRefused
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.schema_addresses import CATALOG, HOME, display_uri
from postroom.formats.jsonschema.validator_panics import panics_as
from postroom.formats.jsonschema.violations import first_line
from postroom.formats.regex_cost import BACKTRACKS
from postroom.model.json_pointers import pointer

_MOST_BACKTRACKS = 100_000
_PATTERN_ERRORS = ("pattern", "patternProperties", "format")
# Most patterns need no backtracking and are matched in linear time. Look-around and back references do; what they
# cannot decide within the limit counts as not matching.
_LINEAR = jsonschema_rs.RegexOptions()
_BACKTRACKING = jsonschema_rs.FancyRegexOptions(backtrack_limit=_MOST_BACKTRACKS)


class ValidatorCompiler:
    """Compiles validators for a document and its parts."""

    def __init__(self, documents: DocumentSet, *, assert_formats: bool) -> None:
        self._documents = documents
        self._backtracks = False
        draft = documents.draft
        self._options: dict[str, Any] = {
            # Newer drafts leave it to the meta-schema, unless a setting asks for it.
            "validate_formats": assert_formats if draft.ignores_siblings else assert_formats or None,
            "offline": True,
            "base_uri": HOME,
        }
        if not documents.is_alone:
            self._options["registry"] = documents.registry()

    def compile_document(self) -> Any:
        """The validator of the root document."""
        return self._compiled(self._documents.root)

    def compile_reference(self, reference: str) -> Any:
        """The validator of what a reference in the root document leads to, with all rules of its surroundings."""
        self._options |= {"registry": self._documents.registry(), "base_uri": CATALOG + "/part"}
        return self._compiled({"$ref": self._documents.address + reference})

    def compile_assertions(self, schema: dict[str, Any]) -> Any:
        """The validator of a few plain keywords without references."""
        options = {"validate_formats": self._options["validate_formats"], "offline": True}
        patterns = _BACKTRACKING if self._backtracks else _LINEAR
        return self._documents.draft.validator(schema, pattern_options=patterns, **options)

    def _compiled(self, schema: Any) -> Any:
        try:
            return self._with_patterns(schema, _LINEAR)
        except jsonschema_rs.ValidationError as error:
            if error.kind.name in _PATTERN_ERRORS and BACKTRACKS.search(error.message):
                return self._with_backtracking(schema)
            self._refuse(error)
        except (jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
            self._refuse(error)

    def _with_backtracking(self, schema: Any) -> Any:
        self._backtracks = True
        try:
            return self._with_patterns(schema, _BACKTRACKING)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, RecursionError) as error:
            self._refuse(error)

    def _with_patterns(self, schema: Any, options: Any) -> Any:
        with panics_as(SchemaRefused("the validator cannot make sense of this schema.")):
            return self._documents.draft.validator(schema, pattern_options=options, **self._options)

    def _refuse(self, error: Exception) -> NoReturn:
        if not isinstance(error, jsonschema_rs.ValidationError):
            if "ecursion" in str(error):
                raise SchemaRefused("the schema is nested too deeply.") from None
            raise SchemaRefused(f"this is not a usable JSON Schema: {display_uri(first_line(error))}") from None
        if error.kind.name != "$ref":
            raise SchemaRefused(
                f"this is not a JSON Schema: {first_line(error.message)}.", place=pointer(error.instance_path)
            ) from None
        at, reference = self._documents.dangling() or ("", "")
        if reference and "not present in a registry" in error.message:
            raise ReferenceMissing(f"the reference {reference!r} leads to nothing in the catalog.", place=at) from None
        named = f"the reference {reference!r} leads nowhere" if reference else "a reference leads nowhere"
        # Inside of its own document it is a mistake of the document; into another one it may yet lead somewhere.
        error_class = SchemaRefused if not reference or reference.startswith("#") else ReferenceMissing
        raise error_class(f"{named}: {display_uri(first_line(error.message))}.", place=at) from None
