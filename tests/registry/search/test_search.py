"""What is found, in which order, with which counts and highlights; alike in both databases."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.registry.permissions import Permissions, Prefixes
from postroom.registry.problems import RegistryProblem
from postroom.registry.search import search as search_module
from postroom.registry.search.search import Highlight
from tests.registry.search.conftest import CANCELLED, ORDER_SCHEMA, PACKED, PARCEL_SCHEMA, PLACED, SHOP, Searched


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("OrderPlaced", [PLACED]),
        ("orderplaced", [PLACED]),
        ("order_pla", [PLACED]),
        ("ORDER cancel", [CANCELLED]),
        ('"order placed"', [PLACED]),
        ('"placed order"', []),
        ('"order place"', []),
        ("zurich", [PLACED]),
        ("Zürich", [PLACED]),
        ("Zu\u0308rich", [PLACED]),
        ("checkout", [PLACED]),
        ("team gold", [PLACED]),
        ("tenantid", [PLACED]),
        ("com.example.order", [PLACED]),
        ("com.example.orderplaced", [PLACED]),
        ("cloudevents/1.0", [PLACED]),
        ("parcels", [PACKED]),
        ("小", [PACKED]),
        ("包", [PACKED]),
        ("barcode", [PACKED]),
        ("email", [ORDER_SCHEMA]),
        ("customer.email", [ORDER_SCHEMA]),
        ("sku weight", [PARCEL_SCHEMA]),
        ("web shop", [SHOP]),
        ("order nowhere", []),
    ],
)
def test_words_phrases_and_beginnings_of_words_are_found(registry: Searched, q: str, found: list[str]) -> None:
    assert registry.find(q) == found


def test_titles_come_before_values_and_texts(registry: Searched) -> None:
    assert registry.find("order placed") == [PLACED, CANCELLED]
    assert registry.find("order")[0] == ORDER_SCHEMA, "its id is the whole query"
    assert registry.find("gold") == registry.find("gold order") == [PLACED]
    assert registry.find("customer") == [ORDER_SCHEMA, PLACED], "of two that fit alike, the one with the shorter title"


@pytest.mark.parametrize(
    "q",
    [
        *(
            "*",
            "%",
            "_",
            "'",
            '"',
            '""',
            "\\",
            "\0",
            "(",
            "^",
            ":",
            "-",
            "{title} :",
            "🚚",
            "\u202e",
            "\ud800",
            "½ ⑴ ﷺ",
        ),
        *("order OR", "NOT order", "order*", "title:order", "NEAR(order, 2)", "order' OR 1=1 --", "a & b | !c <-> d:*"),
        *("%order%", "order\0placed", "ﬀ ß İ ǅ", "e\u0301" * 50, "words:x", "'order':*A"),
    ],
)
def test_nothing_is_an_operator(registry: Searched, q: str) -> None:
    for found in (registry.search(q).hits, registry.fields(q).fields):
        assert len(found) <= 20
    assert registry.find(f"order {q}") == registry.find(f"{q} order") or '"' in q


def test_operators_of_the_databases_are_words(registry: Searched) -> None:
    assert registry.find("order AND email") == []
    assert registry.find("NOT order") == []
    assert registry.find("title:order") == []
    assert registry.find("order*") == registry.find("order")
    assert registry.find("***") == []


def test_a_query_without_words_finds_everything(registry: Searched) -> None:
    everything = registry.search("  ")
    assert everything.total == 8
    assert [hit.xid for hit in everything.hits] == sorted(hit.xid for hit in everything.hits)
    assert registry.search("", kind="schemas").total == 2


def test_facets_are_counted_as_if_they_were_not_restricted(registry: Searched) -> None:
    found = registry.search("order", kind="messages")
    assert {value.value: value.count for value in found.facets["kind"]} == {"messages": 2, "schemas": 1}
    assert {value.value: value.count for value in found.facets["group"]} == {SHOP: 2}
    assert {hit.xid for hit in found.hits} == {PLACED, CANCELLED}
    assert registry.find("", envelope="CloudEvents/1.0") == [PLACED]
    assert registry.find("", protocol="KAFKA") == [PACKED]
    assert registry.find("", format="JsonSchema/draft-07", group="/schemagroups/shop") == [ORDER_SCHEMA, PARCEL_SCHEMA]


def test_highlights_say_where_words_stand(registry: Searched) -> None:
    (hit,) = registry.search("zürich placed", kind="messages").hits
    assert (hit.name, hit.id, hit.group) == ("Order placed", "OrderPlaced", SHOP)
    marked = {one.path: [one.text[low:high] for low, high in one.marks] for one in hit.highlights}
    assert marked["name"] == ["placed"]
    assert marked["id"] == ["Placed"]
    assert marked["description"] == ["Zürich", "placed"]
    (schema,) = registry.search("email").hits
    assert schema.highlights == (Highlight("customer.email", "customer.email", ((9, 14),), is_property=True),)


def test_a_long_text_is_shown_from_near_its_first_mark(registry: Searched) -> None:
    registry.put(SHOP, {"description": "lorem " * 300 + "needle <b>" + " ipsum" * 300})
    (hit,) = registry.search("needle").hits
    (highlight,) = hit.highlights
    assert len(highlight.text) <= 240
    assert [highlight.text[low:high] for low, high in highlight.marks] == ["needle"]
    assert "<b>" in highlight.text


def test_pages_show_every_hit_once(registry: Searched) -> None:
    pages = [registry.search("", limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [page.total for page in pages] == [8] * 4
    assert [hit.xid for page in pages for hit in page.hits] == registry.find("")


@pytest.mark.parametrize(
    ("q", "arguments", "reason"),
    [
        ("x" * 1001, {}, "q has 1,001 characters"),
        (" ".join(f"order{number}" for number in range(25)), {}, "q has 25 words"),
        ("order", {"limit": 101}, "limit"),
        ("order", {"limit": 0}, "limit"),
        ("order", {"offset": 10**9}, "say more words"),
        ("order", {"colour": "red"}, "no facet colour"),
    ],
)
def test_what_asks_for_too_much_is_refused(registry: Searched, q: str, arguments: Any, reason: str) -> None:
    with pytest.raises(RegistryProblem, match=reason):
        registry.search(q, **arguments)


def test_of_very_many_hits_those_with_the_words_in_their_titles_come_first(
    registry: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = {f"m{n}": {"description": "a lorry"} for n in range(12)} | {"lorry": {}, "lorry.late": {}}
    for name, body in messages.items():
        registry.put(f"/messagegroups/fleet/messages/{name}", body)
    monkeypatch.setattr(search_module, "MOST_COUNTED", 10)
    found = registry.search("lorry")
    assert (found.total, found.is_complete) == (10, False)
    assert [hit.id for hit in found.hits][:2] == ["lorry", "lorry.late"]
    assert registry.search("lorry late").is_complete
    assert registry.search("", kind="schemas").total == 2


def test_somebody_who_sees_little_finds_and_counts_little(registry: Searched) -> None:
    may = Permissions(principal="anna", read=Prefixes([PLACED, PARCEL_SCHEMA]))
    anna = Searched(registry.store.seen_by(may))
    assert anna.find("order") == [PLACED]
    assert {value.value: value.count for value in anna.search("").facets["kind"]} == {
        "messages": 1,
        "messagegroups": 1,
        "schemas": 1,
        "schemagroups": 1,
    }
    assert anna.find("email") == []
    assert [field.path for field in anna.fields().fields] == ["lines", "lines[].sku", "total", "weight"]
    (total,) = anna.fields("total").fields
    assert (total.schemas, total.messages) == ((PARCEL_SCHEMA,), ())
    assert anna.fields("total", is_shared=True).fields == ()
    assert Searched(registry.store.seen_by(Permissions())).search("").total == 0
