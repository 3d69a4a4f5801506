"""Three catalogs as separate processes, in a ring and in a star, that are written to and killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from postroom.cli.main import execute
from tests.replication.replicas.many_catalogs import RING, STAR, Town, link_name


@pytest.mark.feature("REPL-006", "REPL-007")
@pytest.mark.parametrize("roads", [RING, STAR], ids=["ring", "star"])
def test_after_the_storm_everybody_has_everything(tmp_path: Path, roads: dict[str, list[str]]) -> None:
    town = Town(tmp_path, roads)
    with town.alive():
        town.storm(seed=7, writes=24, kills=2)
        town.rest()
        assert town.lost() == []
        before = town.requests()
        for number, house in enumerate(town.houses.values()):
            house.write("quiet", str(number))
            town.rest()
        # Each change: the write, and for every road its units; a stream may have to be opened once more.
        assert town.requests() - before <= len(town.houses) * (1 + 2 * len(town.roads))
        for source, target in town.roads:
            ends = [source.gate.url, target.gate.url, "--name", link_name(source, target)]
            assert execute(["replicate", "verify", *ends]) == 0
