from __future__ import annotations

import pyarrow as pa
import pytest

from postroom.errors import BadFlag
from postroom.pipeline.inspect.sql_filter import rows_where

LETTERS = pa.table(
    {
        "outcome": ["invalid", "unmatched", None, "invalid"],
        "reasons": [[{"code": "template_mismatch"}], [], None, [{"code": "type_mismatch"}]],
    }
)


@pytest.mark.parametrize(
    ("where", "chosen"),
    [
        ("", [True, True, True, True]),
        ("  ", [True, True, True, True]),
        ("outcome = 'invalid'", [True, False, False, True]),
        ("outcome = 'invalid' -- because I say so", [True, False, False, True]),
        ("reasons[1].code = 'type_mismatch'", [False, False, False, True]),
        ("outcome IS NULL OR false", [False, False, True, False]),
        ("true", [True, True, True, True]),
        ("NULL", [False, False, False, False]),
    ],
)
def test_a_condition_says_yes_or_no_for_each_row(where: str, chosen: list[bool]) -> None:
    assert rows_where(LETTERS, where).to_pylist() == chosen


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ("colour = 'red'", "colour"),
        ("outcome =", "syntax error"),
        ("1) AS BOOLEAN), true) FROM letters; SELECT coalesce(CAST((1", "one expression"),
        ("true; DROP TABLE letters", "syntax error"),
        ("outcome", "Could not convert"),
        ("max(outcome) = 'invalid'", "row after the other"),
        ("outcome IN (SELECT content FROM read_text('/etc/hostname'))", "disabled"),
    ],
)
def test_a_bad_condition_is_one_sentence(where: str, sentence: str) -> None:
    with pytest.raises(BadFlag, match=sentence) as error:
        rows_where(LETTERS, where)
    assert "\n" not in error.value.sentence
    if "colour" in where:
        assert str(error.value).endswith("The columns are outcome, reasons.")
