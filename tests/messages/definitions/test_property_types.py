from typing import Any

import pytest

from postroom.messages.definitions.property_types import checker, is_now


@pytest.mark.feature("MSG-039", "MSG-040", "MSG-041", "MSG-042", "MSG-043", "MSG-044")
@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("any", [1, "x", True, 1.5], []),
        ("boolean", [True, False, "true", "false"], ["True", "1", 1, "yes"]),
        ("integer", [0, -5, "12", 2147483647], [2147483648, "1.5", 1.5, True, "x", "99999999999"]),
        ("number", [1, 1.5, "2", "-2.5e3"], ["x", True, "1.", "."]),
        ("string", ["", "text"], [1, True, None]),
        ("symbol", ["abc_1"], ["a-b", "", "a b", "a\n"]),
        ("binary", ["AAE=", ""], ["%", "A"]),
        (
            "timestamp",
            ["2026-11-15T20:00:00Z", "2026-11-15t20:00:00.123+02:00", "2016-12-31T23:59:60Z"],
            [
                *("2026-11-15", "2026-04-31T00:00:00Z", "2026-11-15T24:00:00Z", "2026-11-15T20:00:00", "now", 5),
                *("2026-W46-7T20:00:00Z", "20261115T20:00:00Z", "0000-02-01T20:00:00Z", "2026-11-15T20:00:00Z\n"),
            ],
        ),
        ("duration", ["PT1S", "P1DT2H", "P2W", "PT1.5S"], ["P", "PT", "1S", "P1S"]),
        ("uri", ["https://example.com/x", "urn:a:b", "//host/path"], ["/x", "x", "https://a b", "http://[::1"]),
        (
            "urireference",
            ["/x", "x", "", "https://example.com", "http://[::1]:8080/x", "a%20b#c", "urn:a?b=(c)"],
            ["a b", "<x>", "http://[::1", "/x[0]", "a#b#c", "%zz", "%", "é", "/x\n"],
        ),
        ("ulong", [0, 2**64 - 1, "18446744073709551615"], [-1, 2**64, "-1", 1.5, "x", True, ""]),
        ("uuid", ["5f0c1b1e-6d3c-4b9a-9d3b-2f6f6f6f6f6F"], ["x", "5f0c1b1e6d3c4b9a9d3b2f6f6f6f6f6f", 5]),
        ("uritemplate", ["anything {at} all"], [5]),
    ],
)
def test_a_value_has_a_type_or_not(kind: str, good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if not checker(kind)(value)] == []
    assert [value for value in bad if checker(kind)(value)] == []


@pytest.mark.feature("MSG-053", "MSG-054")
@pytest.mark.parametrize("value", ["0000-01-01T00:00:00Z", "01-01-0000T00:00:00Z", "0001-01-01T00:00:00Z"])
def test_now_has_three_spellings(value: str) -> None:
    assert is_now(value)
    assert not is_now("2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("integer", "\u0661\u0662"),
        ("number", "\u0661.\u0665"),
        ("timestamp", "2026-11-15T20:00:0\u0660Z"),
        ("timestamp", "\u0662\u0660\u0662\u0666-11-15T20:00:00Z"),
        ("duration", "P\u0661D"),
    ],
)
def test_digits_are_those_of_ascii(kind: str, value: str) -> None:
    assert not checker(kind)(value)
