"""Random writes and pulls in many topologies, in one process: when it gets quiet, everybody has what the homes have."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.replication.catalogs import Kitchen, pull, verify

RING = [("anna", "bert"), ("bert", "cleo"), ("cleo", "anna")]
BOTH_WAYS = [*RING, *((target, source) for source, target in RING)]
STAR = [("anna", "cleo"), ("bert", "cleo"), ("cleo", "anna"), ("cleo", "bert")]
CHAIN = [("anna", "bert"), ("bert", "anna"), ("bert", "cleo"), ("cleo", "bert")]


def storm(kitchens: dict[str, Kitchen], roads: list[tuple[str, str]], chance: random.Random, steps: int) -> None:
    """Random writes, each catalog its own things, and random pulls."""
    for number in range(steps):
        name = chance.choice(list(kitchens))
        kitchen, message = kitchens[name], f"{name}.{chance.randrange(3)}"
        match chance.randrange(8):
            case 0:
                if _has(kitchen, message):
                    kitchen.delete(f"/messagegroups/ovens/messages/{message}")
            case 1:
                kitchen.shape(*(str(one) for one in range(1, chance.randrange(2, 4))), group=f"{name}.loaves")
            case 2 if f"{name}.loaves" in kitchen.show("/schemagroups"):
                kitchen.delete(f"/schemagroups/{name}.loaves")
            case 2 | 3:
                kitchen.bake(message, description=str(number))
            case _:
                source, target = chance.choice(roads)
                pull(kitchens[source].side, kitchens[target].side, f"{source}-{target}")


def _has(kitchen: Kitchen, message: str) -> bool:
    with kitchen.store.read() as tx:
        return tx.entity(f"/messagegroups/ovens/messages/{message}") is not None


@pytest.mark.feature("REPL-006", "REPL-012")
@pytest.mark.parametrize("roads", [RING, BOTH_WAYS, STAR, CHAIN], ids=["ring", "both ways", "star", "chain"])
@pytest.mark.parametrize("seed", range(2))
def test_everybody_ends_with_what_the_homes_have(tmp_path: Path, roads: list[tuple[str, str]], seed: int) -> None:
    kitchens = {name: Kitchen(tmp_path, name) for name in ("anna", "bert", "cleo")}
    storm(kitchens, roads, random.Random(seed), 40)
    for _ in kitchens:
        for source, target in roads:
            pull(kitchens[source].side, kitchens[target].side, f"{source}-{target}")
    for source, target in roads:
        assert verify(kitchens[source].side, kitchens[target].side, f"{source}-{target}") == []
        assert pull(kitchens[source].side, kitchens[target].side, f"{source}-{target}").outcome.taken == []
    shown = [_messages(kitchen) for kitchen in kitchens.values()]
    assert shown[0] == shown[1] == shown[2]


def _messages(kitchen: Kitchen) -> dict[str, str]:
    with kitchen.store.read() as tx:
        found = [entity for entity in tx.below("/messagegroups") if "/versions/" in entity.xid]
        return {entity.xid: entity.attributes["description"] for entity in found}
