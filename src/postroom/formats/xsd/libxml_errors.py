"""The sentences of libxml2 about payloads, and ours."""

from __future__ import annotations

import re

# What libxml2 writes, the rule it stands for, and what was expected and found.
MESSAGES = tuple(
    (re.compile(pattern, re.DOTALL), rule, expected, found)
    for pattern, rule, expected, found in (
        (r"This element is not expected\. Expected is (?:one of )?\( (.*) \)", "content", "{0}", "{tag}"),
        (r"This element is not expected\.", "content", "absent", "{tag}"),
        (
            r"Missing child element\(s\)\. Expected is (?:one of )?\( (.*) \)",
            "missing",
            "an element that holds {0}",
            "without it",
        ),
        (r"Missing child element\(s\)", "missing", "an element with all its children", "without some"),
        (
            r"The attribute '(.*)' is required but missing",
            "required_attribute",
            "an element with the attribute {0}",
            "without it",
        ),
        (
            r"The attribute '(.*)' is not allowed",
            "attribute",
            "an element without the attribute {0}",
            "one that has it",
        ),
        (r"The value (.*) is greater than the maximum value allowed \((.*)\)", "max_inclusive", "at most {1}", "{0}"),
        (r"The value (.*) is less than the minimum value allowed \((.*)\)", "min_inclusive", "at least {1}", "{0}"),
        (r"The value (.*) must be less than (.*)\.", "max_exclusive", "less than {1}", "{0}"),
        (r"The value (.*) must be greater than (.*)\.", "min_exclusive", "more than {1}", "{0}"),
        (
            r"has a length of '(\d+)'; this exceeds the allowed maximum length of '(\d+)'",
            "max_length",
            "at most {1} long",
            "{0} long",
        ),
        (
            r"has a length of '(\d+)'; this underruns the allowed minimum length of '(\d+)'",
            "min_length",
            "at least {1} long",
            "{0} long",
        ),
        (r"has a length of '(\d+)'; this differs from the allowed length of '(\d+)'", "length", "{1} long", "{0} long"),
        (r"The value (.*) is not an element of the set \{(.*?)(?:\}|$)", "enumeration", "one of {1}", "{0}"),
        (r"The value (.*) is not accepted by the pattern '(.*)'", "pattern", "text like {1}", "{0}"),
        (
            r"The value (.*) has more digits than are allowed \('(\d+)'\)",
            "total_digits",
            "of at most {1} digits",
            "{0}",
        ),
        (
            r"The value (.*) has more fractional digits than are allowed \('(\d+)'\)",
            "fraction_digits",
            "of at most {1} digits behind the point",
            "{0}",
        ),
        (r"(.*) is not a valid value of the (?:local )?(?:atomic|list|union) type '(.*)'", "type", "{1}", "{0}"),
        (r"(.*) is not a valid value of the local (?:atomic|list|union) type", "type", "a value of its type", "{0}"),
        (r"Character content other than whitespace is not allowed", "text", "without text", "an element with text"),
        (r"Character content is not allowed", "text", "empty", "an element with text"),
        (r"Element content is not allowed", "content", "without child elements", "an element with some"),
        (r"The element is not 'nillable'", "nillable", "not nil", "nil"),
        (
            r"No matching global declaration available for the validation root",
            "root",
            "an element that the schema declares",
            "{tag}",
        ),
        (r"The (?:actual )?value '(.*)' does not match the fixed value constraint '(.*)'", "fixed", "{1}", "{0}"),
        (r"The type definition is abstract", "abstract", "of a type that is not abstract", "of an abstract type"),
        (r"The element declaration is abstract", "abstract", "an element that is not abstract", "abstract"),
        (
            r"Duplicate key-sequence (.*) in unique identity-constraint '(.*)'",
            "unique",
            "unique by {1}",
            "a repetition of {0}",
        ),
        (
            r"Duplicate key-sequence (.*) in key identity-constraint '(.*)'",
            "key",
            "unique by the key {1}",
            "a repetition of {0}",
        ),
        (r"No match found for key-sequence (.*) of keyref '(.*)'", "keyref", "a key that {1} refers to", "{0}"),
        (
            r"Not all fields of key identity-constraint '(.*)' evaluate to a node",
            "key",
            "an element with all fields of the key {0}",
            "without some",
        ),
        (
            r"No matching global (?:element|attribute) declaration available, but demanded by the strict wildcard",
            "wildcard",
            "an element that the schema declares",
            "{tag}",
        ),
    )
)
