"""CESQL: what expressions mean, which errors they have, and that none of them takes forever."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.replication.subscriptions.cesql.errors import ExpressionRefused
from postroom.replication.subscriptions.cesql.evaluate import evaluate, passes
from postroom.replication.subscriptions.cesql.like_patterns import parse_pattern
from postroom.replication.subscriptions.cesql.parser import DEEPEST, LONGEST, parse_expression
from postroom.replication.subscriptions.cesql.syntax_tree import Like

EVENT: dict[str, Any] = {
    "specversion": "1.0",
    "id": "17",
    "source": "/ovens/3",
    "type": "com.bakery.heated",
    "hop": "5",
    "ttl": 10,
    "hot": True,
    "data": "not an attribute",
}


def value(expression: str) -> Any:
    found, failures = evaluate(parse_expression(expression), EVENT)
    assert not failures, failures
    return found


@pytest.mark.feature("SUB-008")
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # literals
        ("tRuE", True),
        ("2147483647", 2147483647),
        ("-2147483648", -2147483648),
        ("+7", 7),
        (r"'it\'s'", "it's"),
        ("'it''s'", "it's"),
        (r'"a \"loaf\""', 'a "loaf"'),
        (r"'a\b'", r"a\b"),
        # attributes
        ("id", "17"),
        ("ID", "17"),
        ("ttl", 10),
        ("hot", True),
        ("EXISTS hop", True),
        ("EXISTS missing", False),
        ("NOT EXISTS missing", True),
        ("EXISTS data", False),
        # arithmetic
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 - 2 - 1", 4),
        ("7 -2", 5),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("-7 % 2", -1),
        ("7 % -2", 1),
        ("--3", 3),
        ("- 3", -3),
        ("'4' + TRUE", 5),
        # comparing: the right side's type decides
        ("hop = 5", True),
        ("5 = hop", True),
        ("hop < ttl", True),
        ("'TRUE' = true", True),
        ("true = 'TRUE'", False),
        ("1 <> 2", True),
        ("'a' != 'A'", True),
        ("2 >= 2 AND 2 <= 2 AND NOT FALSE", True),
        # logic: equal rank, from left to right
        ("TRUE OR FALSE AND FALSE", False),
        ("TRUE XOR TRUE XOR TRUE", True),
        ("TRUE OR 1 / 0 = 1", True),
        ("FALSE AND missing", False),
        ("NOT 10", False),
        # like
        ("source LIKE '/ovens/%'", True),
        ("source NOT LIKE '/ovens/%'", False),
        ("type LIKE 'com.%.h_at%'", True),
        ("ttl LIKE '1_'", True),
        (r"'10%' LIKE '10\%'", True),
        (r"'100' LIKE '10\%'", False),
        (r"'a\b' LIKE 'a\b'", True),
        ("'' LIKE '%'", True),
        ("'' LIKE '_'", False),
        ("'ab' LIKE '%a%b%'", True),
        ("'aa' LIKE 'a%a%a'", False),
        # in
        ("id IN ('16', '17')", True),
        ("id NOT IN ('16', '17')", False),
        ("ttl IN ('9', '10')", True),
        ("'10' IN (ttl)", True),
        # functions
        ("length(id)", 2),
        ("CONCAT(id, ':', ttl)", "17:10"),
        ("CONCAT()", ""),
        ("CONCAT_WS('/', 'a', 'b')", "a/b"),
        ("LOWER('Ä') = 'ä' AND UPPER('ä') = 'Ä'", True),
        ("TRIM('\u2003 loaf \u00a0')", "loaf"),
        ("LEFT('loaf', 2)", "lo"),
        ("RIGHT('loaf', 9)", "loaf"),
        ("RIGHT('loaf', 0)", ""),
        ("SUBSTRING('loaf', -3, 2)", "oa"),
        ("SUBSTRING('loaf', 2)", "oaf"),
        ("SUBSTRING('loaf', 0, 2)", ""),
        ("ABS(-5) + INT('+5')", 10),
        ("BOOL('False')", False),
        ("STRING(TRUE)", "true"),
    ],
)
def test_values(expression: str, expected: Any) -> None:
    found = value(expression)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.feature("SUB-008")
@pytest.mark.parametrize(
    ("expression", "expected", "kind"),
    [
        ("missing", False, "missingAttribute"),
        ("missing = ''", False, "missingAttribute"),
        ("NOT missing", False, "missingAttribute"),
        ("missing + 1", 0, "missingAttribute"),
        ("1 / missing", 0, "missingAttribute"),
        ("missing LIKE '%'", False, "missingAttribute"),
        ("id NOT IN (missing)", False, "missingAttribute"),
        ("LENGTH(missing)", 0, "missingAttribute"),
        ("UPPER(missing)", "", "missingAttribute"),
        ("data", False, "missingAttribute"),
        ("5 / 0", 0, "math"),
        ("5 % 0", 0, "math"),
        ("2147483647 + 1", 0, "math"),
        ("-(-2147483648)", 0, "math"),
        ("ABS(-2147483648)", 2147483647, "math"),
        ("'loaf' + 1", 0, "cast"),
        ("'loaf' = 1", False, "cast"),
        ("'loaf' != 1", False, "cast"),
        ("INT('99999999999')", 0, "cast"),
        ("INT('٣')", 0, "cast"),
        ("BOOL('yes')", False, "cast"),
        ("1 IN ('loaf')", False, "cast"),
        ("NOT 'loaf'", True, "cast"),
        ("BAKE(id)", False, "missingFunction"),
        ("CONCAT_WS()", False, "missingFunction"),
        ("LENGTH('a', 'b')", False, "missingFunction"),
        ("LEFT('loaf', -1)", "loaf", "functionEvaluation"),
        ("RIGHT('loaf', -1)", "loaf", "functionEvaluation"),
        ("SUBSTRING('loaf', 5)", "", "functionEvaluation"),
        ("SUBSTRING('loaf', -5)", "", "functionEvaluation"),
        ("SUBSTRING('loaf', 1, -1)", "", "functionEvaluation"),
    ],
)
def test_errors_have_a_kind_and_a_value_that_stands_for_them(expression: str, expected: Any, kind: str) -> None:
    node = parse_expression(expression)
    found, failures = evaluate(node, EVENT)
    assert ([failure.kind for failure in failures], found) == ([kind], expected)
    assert not passes(node, EVENT)


@pytest.mark.feature("SUB-008")
@pytest.mark.parametrize(
    "expression",
    [
        "",
        "(",
        "ABC(",
        "1 +",
        "id id",
        "id LIKE 5",
        "id LIKE hop",
        "id IN ()",
        "id IN 'x'",
        "NOT",
        "id NOT = 5",
        "EXISTS 5",
        "EXISTS 'id'",
        "'open",
        "id ; DROP",
        "a_b",
        "2147483648",
        "99999999999999999999999999999999",
        "+id",
        "f(1,)",
        "1(2)",
        "id = = id",
    ],
)
def test_what_does_not_parse(expression: str) -> None:
    with pytest.raises(ExpressionRefused):
        parse_expression(expression)


def test_a_refusal_names_the_place() -> None:
    with pytest.raises(ExpressionRefused, match=r"at position 7 there is `AND` where an attribute"):
        parse_expression("id = (AND)")


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 2000 + "1" + ")" * 2000,
        "NOT " * 2000 + "hot",
        "-" * 2000 + "1",
        "hot" + " IN (TRUE)" * 1000,
        "(" * 30 + "hot" + (" IN (TRUE)" * 40 + ")") * 30,
        "(" * 30 + "hot" + (" LIKE 'true'" * 40 + ")") * 30,
    ],
)
def test_depth_is_bounded(expression: str) -> None:
    with pytest.raises(ExpressionRefused, match=f"deeper than {DEEPEST}"):
        parse_expression(expression)


def test_length_is_bounded_and_long_chains_are_not_deep() -> None:
    with pytest.raises(ExpressionRefused, match=str(LONGEST)):
        parse_expression("hot AND " * LONGEST + "hot")
    assert value(" AND ".join(["hot"] * 1000)) is True


@pytest.mark.parametrize(
    "expression",
    [
        "blob LIKE '%" + "_" * 3000 + "x%'",
        " OR ".join(["blob LIKE '%_b%'"] * 100),
        "LENGTH(" + "CONCAT(" + ", ".join(["blob"] * 1000) + ")) < 0",
    ],
)
def test_work_is_bounded(expression: str) -> None:
    event = {**EVENT, "blob": "a" * 50_000}
    _, failures = evaluate(parse_expression(expression), event)
    assert [failure.kind for failure in failures] == ["generic"]
    assert not passes(parse_expression(expression), event)


def test_a_pattern_is_read_when_its_expression_is_read() -> None:
    node = parse_expression("type LIKE 'com._%.heated'")
    assert isinstance(node, Like)
    assert node.pattern == parse_pattern("com._%.heated")


@given(st.text("ab%_\\", max_size=8), st.text("ab%_\\", max_size=10))
def test_patterns_match_like_their_definition(pattern: str, text: str) -> None:
    assert parse_pattern(pattern).matches(text) == _defined(pattern, text)


def _defined(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(_defined(pattern[1:], text[at:]) for at in range(len(text) + 1))
    if pattern[0] == "\\" and pattern[1:2] in ("%", "_"):
        return text[:1] == pattern[1] and _defined(pattern[2:], text[1:])
    return bool(text) and pattern[0] in ("_", text[0]) and _defined(pattern[1:], text[1:])


@given(st.text("a1'\"()=<>!-+*/%, ANDORLIKENOTIXST", max_size=30))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    try:
        node = parse_expression(text)
    except ExpressionRefused:
        return
    found, _ = evaluate(node, EVENT)
    assert isinstance(found, bool | int | str)
