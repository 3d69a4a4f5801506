"""Plans accept only what is sure to fit."""

from typing import Any

import pytest

from postroom.catalog.catalog import Catalog

EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "reading"}
MESSAGE = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {"type": {"value": "reading"}, "level": {"value": "7", "required": False}},
    "dataschemaformat": "JsonSchema/draft-07",
    "dataschema": True,
}


@pytest.mark.parametrize(("level", "outcome"), [("7", "landed"), (7, "landed"), (8, "invalid"), (True, "invalid")])
def test_an_optional_constant_is_compared_whatever_kind_of_value_comes(level: Any, outcome: str) -> None:
    catalog = Catalog({"messagegroups": {"g": {"messages": {"reading": MESSAGE}}}})
    assert catalog.match({**EVENT, "level": level, "data": 1}).outcome == outcome
