"""Numbers of Versions: those of numeric ids are the ids, all others get the next and keep it."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.registry.problems import RegistryProblem
from tests.registry.conftest import RegistryClient

DOOR = "/schemagroups/doors/schemas/door"


def version(title: str, **more: Any) -> dict[str, Any]:
    return {"format": "JsonSchema/draft-07", "schema": {"title": title}, **more}


def number(registry: RegistryClient, version_id: str) -> int | None:
    found: int | None = registry.show(f"{DOOR}/versions/{version_id}").get("schemaversion")
    return found


def test_numeric_ids_need_no_number_beside_them(registry: RegistryClient) -> None:
    for one in ("1", "2", "7"):
        registry.put(f"{DOOR}/versions/{one}", version(one))
        assert number(registry, one) is None


def test_other_ids_get_the_next_number_in_the_order_in_which_they_come(registry: RegistryClient) -> None:
    for one in ("2.0", "3", "1.0", "v-last"):
        registry.put(f"{DOOR}/versions/{one}", version(one))
    assert [number(registry, one) for one in ("2.0", "3", "1.0", "v-last")] == [1, None, 4, 5]


def test_a_numeric_id_whose_number_is_taken_gets_another(registry: RegistryClient) -> None:
    registry.put(f"{DOOR}/versions/first", version("first"))
    registry.put(f"{DOOR}/versions/1", version("1"))
    assert [number(registry, one) for one in ("first", "1")] == [1, 2]


def test_a_number_stays_when_the_version_or_another_one_changes(registry: RegistryClient) -> None:
    registry.put(f"{DOOR}/versions/a", version("a"))
    registry.put(f"{DOOR}/versions/b", version("b"))
    registry.put(f"{DOOR}/versions/b", version("c"))
    registry.delete(f"{DOOR}/versions/a")
    assert number(registry, "b") == 2
    registry.put(f"{DOOR}/versions/d", version("d"))
    assert number(registry, "d") == 3


def test_many_new_versions_of_one_request_are_numbered_in_their_order(registry: RegistryClient) -> None:
    registry.put(f"{DOOR}/versions", {f"v{one}": version(str(one)) for one in range(1, 6)})
    assert [number(registry, f"v{one}") for one in range(1, 6)] == [1, 2, 3, 4, 5]


def test_a_number_that_comes_along_from_another_version_is_not_taken_twice(registry: RegistryClient) -> None:
    registry.put(f"{DOOR}/versions/a", version("a"))
    registry.put(f"{DOOR}/versions/b", version("b", schemaversion=1))
    registry.put(f"{DOOR}/versions/c", version("c", schemaversion=7))
    assert [number(registry, one) for one in "abc"] == [1, 2, 7]


@pytest.mark.parametrize("stated", [0, 2**31])
def test_a_stated_number_must_be_one(registry: RegistryClient, stated: int) -> None:
    registry.put(f"{DOOR}/versions/a", version("a"))
    with pytest.raises(RegistryProblem) as refused:
        registry.put(f"{DOOR}/versions/b", version("b", schemaversion=stated))
    assert refused.value.name == "invalid_attribute"
