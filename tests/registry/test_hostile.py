"""Anything can arrive: requests that were legal until chance got at them, at any depth."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from postroom.registry.configuration.model_update import write_modelsource
from postroom.registry.problems import RegistryProblem
from postroom.registry.write.unit_of_work import UnitOfWork

MODEL: dict[str, Any] = {
    "attributes": {
        "fuel": {"type": "string", "ifvalues": {"gas": {"siblingattributes": {"pressure": {"type": "integer"}}}}},
        "shifts": {"type": "array", "item": {"type": "map", "item": {"type": "uinteger"}}},
    },
    "groups": {
        "kitchens": {
            "singular": "kitchen",
            "attributes": {"*": {"type": "any"}},
            "constraints": {"ovens.size": {"enum": ["s", "m"], "default": "m"}, "ovens.name": {"equals": "name"}},
            "resources": {
                "ovens": {
                    "singular": "oven",
                    "maxversions": 3,
                    "typemap": {"a/*": "json"},
                    "attributes": {
                        "size": {"type": "string"},
                        "door": {
                            "type": "object",
                            "attributes": {
                                "kind": {"type": "string", "matchversions": True},
                                "twin": {"type": "xid", "target": "/kitchens/ovens[/versions]"},
                            },
                        },
                    },
                    "metaattributes": {"*": {"type": "any"}},
                },
                "pans": {"singular": "pan", "hasdocument": False, "versionmode": "semver"},
            },
        },
        "shops": {"singular": "shop", "ximportresources": ["/kitchens/ovens"]},
    },
}
VERSIONS: dict[str, Any] = {
    "v1": {"oven": {"a": 1}, "ancestorid": "v1"},
    "v2": {"ovenbase64": "aGk=", "ancestorid": "v1", "createdat": "2021-01-01T00:00:00Z"},
}
META: dict[str, Any] = {
    "defaultversionid": "v1",
    "defaultversionsticky": True,
    "labels": {"x": "y"},
    "deprecated": {"effective": "2020-01-01T00:00:00Z"},
}
OVEN: dict[str, Any] = {
    "ovenid": "big",
    "name": "n",
    "size": "s",
    "door": {"kind": "steel", "twin": "/kitchens/k/ovens/big"},
    "labels": {"a": "b"},
    "meta": META,
    "versions": VERSIONS,
}
KITCHEN: dict[str, Any] = {
    "name": "n",
    "constraints": {"ovens.size": {"enum": ["s", "m"]}},
    "ovens": {"big": OVEN},
    "pans": {"flat": {"versions": {"1.0.0": {}, "1.1.0-rc1": {}}}},
}
SHOP: dict[str, Any] = {"name": "n", "ovens": {"shown": {"meta": {"xref": "/kitchens/k/ovens/big"}}}}
REQUESTS: dict[str, Any] = {
    "/": {"fuel": "gas", "pressure": 3, "shifts": [{"x": 1}], "kitchens": {"k": KITCHEN}, "shops": {"s": SHOP}},
    "/kitchens": {"k": KITCHEN},
    "/kitchens/k": KITCHEN,
    "/kitchens/k/ovens": {"big": OVEN},
    "/kitchens/k/ovens/big": OVEN,
    "/kitchens/k/ovens/big/meta": META,
    "/kitchens/k/ovens/big/versions": VERSIONS,
    "/kitchens/k/ovens/big/versions/v2": VERSIONS["v2"],
    "/kitchens/k/pans/flat": KITCHEN["pans"]["flat"],
    "/shops/s/ovens/shown": SHOP["ovens"]["shown"],
    "/shops/s/ovens/shown/meta": {"xref": None},
}
JUNK: list[Any] = [
    *(None, True, False, 0, -1, 2**70, -(2**70), 1.5, 1e308, "", "x", "/", "*", "\ud7ff", "a" * 5000),
    *([], [None], [1, "a", []], {}, {"": 1}, {"a": {"b": [{}]}}, {"*": {}}, {"A": 1}, {"v1": None}),
    *("/kitchens/k/ovens/big", "request", "null", "2020-01-01T00:00:00Z", "v1", "gas"),
]
KEYS = ["", "A", "a/b", "x" * 64, "x" * 129, "9a", "*", "$include", "ünï", "a~b", "a@b", "a:b", "..", "versions"]
NAMES = [
    *("epoch", "xid", "self", "name", "labels", "meta", "versions", "versionid", "ancestorid", "createdat", "xref"),
    *("contenttype", "format", "oven", "ovenurl", "ovenbase64", "ovenproxyurl", "constraints", "deprecated"),
    *("defaultversionid", "defaultversionsticky", "model", "modelsource", "kitchens", "ovens", "ovenid", "type"),
    *("enum", "default", "required", "item", "ifvalues", "attributes", "target", "immutable", "matchversions"),
    *("namecharset", "singular", "plural", "ximportresources", "typemap", "maxversions", "versionmode", "readonly"),
]


def spoiled(chance: random.Random, value: Any) -> Any:
    if chance.random() < 0.08:
        return copy.deepcopy(chance.choice(JUNK))
    if isinstance(value, list):
        return [spoiled(chance, one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {key: one for key, one in value.items() if chance.random() > 0.04}
    made = {key if chance.random() > 0.02 else chance.choice(KEYS): spoiled(chance, one) for key, one in kept.items()}
    if chance.random() < 0.06:
        made[chance.choice(NAMES)] = copy.deepcopy(chance.choice(JUNK))
    return made


def install(registry: Any, source: Any) -> None:
    with registry.store.write() as tx:
        work = UnitOfWork(tx)
        write_modelsource(work, source)
        work.finish()


def start_again(registry: Any) -> None:
    with registry.store.read() as tx:
        plurals = list(tx.model().groups)
    for plural in plurals:
        registry.delete(f"/{plural}")
    registry.put("/", {"modelsource": MODEL})


def one_request(chance: random.Random, registry: Any) -> None:
    draw, xid = chance.random(), chance.choice(list(REQUESTS))
    if draw < 0.2:
        install(registry, spoiled(chance, MODEL))
        start_again(registry)
    elif draw < 0.3 and xid != "/" and not xid.endswith("meta"):
        members = spoiled(chance, REQUESTS[xid]) if xid.count("/") % 2 and chance.random() < 0.5 else None
        registry.delete(xid, epoch=chance.choice([None, None, 1]), members=members)
    else:
        default = chance.choice(["", "", "", None, "v1", "v9", "request"])
        registry.put(xid, spoiled(chance, REQUESTS[xid]), patch=chance.random() < 0.5, default=default)


def last_sequence(registry: Any) -> int:
    with registry.store.read() as tx:
        changes = tx.changes(0, 1_000_000)
    return changes[-1].sequence if changes else 0


@pytest.mark.feature("REG-083", "REG-084", "REG-030", "REG-002", "REG-007", "REG-009", "REG-034")
@pytest.mark.parametrize("seed", range(6))
def test_spoiled_requests_are_done_or_refused_and_nothing_in_between(registry: Any, seed: int) -> None:
    chance = random.Random(seed)
    install(registry, MODEL)
    done = 0
    for _ in range(400):
        before = last_sequence(registry)
        try:
            one_request(chance, registry)
        except RegistryProblem:
            assert last_sequence(registry) == before
        else:
            done += 1
    registry.show("/", "*,model,modelsource")
    assert 20 < done < 390
