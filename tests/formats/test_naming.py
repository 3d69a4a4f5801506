import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.formats.naming import column_names, source_name


@pytest.mark.parametrize(
    ("sources", "columns"),
    [
        (["plain", "with.dot", "größe"], ["plain", "with.dot", "größe"]),
        (["a b", "a,b", "a=b"], ["a~20b", "a~2Cb", "a~3Db"]),
        (["~"], ["~7E"]),
        ([""], ["~"]),
        (["Id", "ID", "id"], ["Id", "ID~~2", "id~~3"]),
    ],
)
def test_column_names_follow_the_rule(sources: list[str], columns: list[str]) -> None:
    assert column_names(sources) == columns


@given(st.lists(st.text(max_size=8), unique=True))
def test_names_are_reversible_distinct_and_allowed(sources: list[str]) -> None:
    columns = column_names(sources)
    assert [source_name(column) for column in columns] == sources
    assert len({column.lower() for column in columns}) == len(columns)
    assert not set("".join(columns)) & set(" ,;{}()\n\t=")
