from __future__ import annotations

from deltalake import DeltaTable

from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.reconciliation import balance_of, differences


def test_a_lake_is_what_its_ledger_says(sorted_lake: Lake) -> None:
    assert str(balance_of(read_ledger(sorted_lake))) == "read 24 = landed 19 + dead 5"
    assert list(differences(sorted_lake)) == []


def test_an_empty_lake_is_in_balance(lake: Lake) -> None:
    assert list(differences(lake)) == []


def test_rows_that_are_gone_are_noticed(sorted_lake: Lake) -> None:
    DeltaTable(sorted_lake.path("shop/order.placed")).delete("ce_id = 'o1'")
    DeltaTable(sorted_lake.path(DEAD_LETTERS)).delete("outcome = 'malformed'")
    assert list(differences(sorted_lake)) == [
        "/messagegroups/shop/messages/order.placed: the ledger has 6 rows, its tables have 5.",
        "The ledger has 5 dead letters, their table has 4.",
    ]
