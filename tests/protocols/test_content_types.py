"""Content types, compared as RFC 2045 says."""

from __future__ import annotations

import pytest

from postroom.protocols.content_types import is_among, is_same_type


@pytest.mark.audit("messages-D2", "messages-D7")
@pytest.mark.feature("MSG-032")
@pytest.mark.parametrize(
    ("found", "wanted", "is_same"),
    [
        ("application/json", "application/json", True),
        ("Application/JSON", "application/json", True),
        ("application/json; charset=utf-8", "application/json", True),
        ("TEXT/Plain; CharSet=utf-8", "text/plain; charset=utf-8", True),
        ("text/plain;charset=UTF-8", "text/plain; charset=utf-8", True),
        ('text/plain; charset="utf-8"; format=flowed', "text/plain; charset=utf-8", True),
        ("text/csv; profile=a; header=present", "text/csv; header=present; profile=a", True),
        (r'text/csv; profile="a\"b;c"', r'text/csv; PROFILE="a\"b;c"', True),
        ("text/csv", "text/csv; profile=a", False),
        ("text/csv; profile=b", "text/csv; profile=a", False),
        ("text/csv; profile=A", "text/csv; profile=a", False),
        ("text/csv; profile=ab", "text/csv; profile=a", False),
        ("text/csv; x=profile=a", "text/csv; profile=a", False),
        ("application/xml", "application/json", False),
        ("", "application/json", False),
    ],
)
def test_a_content_type_has_what_the_wanted_one_names(found: str, wanted: str, is_same: bool) -> None:
    assert is_same_type(found, wanted) is is_same


def test_a_suffix_stands_for_all_types_that_have_it() -> None:
    assert is_among("application/vnd.shop.order+JSON; v=2", ("application/json", "+json"))
    assert not is_among("application/json-seq", ("application/json", "+json"))


def test_a_long_content_type_is_read_as_well() -> None:
    assert is_same_type("text/csv; profile=" + "a" * 1000, "text/csv; profile=" + "a" * 1000 + " ")
