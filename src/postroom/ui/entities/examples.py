"""An example of a definition, made on the spot: for each protocol and mode, and another one at will."""

from __future__ import annotations

import random
from typing import Any

from postroom.errors import DefinitionRefused, MakeRefused, MessageUnknown
from postroom.http.server.response import Response
from postroom.messages.making.make import AUTO, Maker
from postroom.protocols.protocol_table import PROTOCOLS, canonical_protocol
from postroom.protocols.records import render_record
from postroom.registry.problems import RegistryProblem
from postroom.ui.entities.send_commands import snippets
from postroom.ui.page import PageRequest

VALUE = "value."
MOST_SEEDS = 999_999
_SAMPLES = (
    "{name}-1",
    "7",
    "2026-05-04T10:00:00Z",
    "5f0c1b1e-6d3c-4b9a-9d3b-2f6f6f6f6f6f",
    "true",
    "https://example.com/x",
)
"""What placeholders are tried with, the first that suits all of them."""


def answer_example(page: PageRequest) -> Response:
    """An example of the definition that `xid` names."""
    xid = page.query.get("xid", "")
    try:
        maker = page.catalog.message(xid).maker
    except (MessageUnknown, DefinitionRefused):
        raise RegistryProblem("not_found", xid or "/") from None
    definition = maker.definition
    own = canonical_protocol(definition.protocol)
    protocols = [own] if own else [wire.name for wire in PROTOCOLS]
    protocol = next((one for one in protocols if one == page.query.get("protocol")), protocols[0])
    modes = ("binary", "structured") if maker.is_event else ()
    mode = next((one for one in modes if one == page.query.get("mode")), "")
    seed = page.number("seed", 1, MOST_SEEDS)
    given = {name.removeprefix(VALUE): value for name, value in page.query.items() if name.startswith(VALUE) and value}
    problem, record, values = "", None, given
    try:
        record, values = make_example(maker, given, protocol, mode, seed)
    except MakeRefused as refused:
        problem = str(refused)
    base = page.request.base.removesuffix("/ui").removesuffix("/-")
    return page.render(
        "example.html",
        xid=definition.xid,
        name=definition.name or definition.id,
        protocols=protocols,
        protocol=protocol,
        modes=modes,
        mode=mode or definition.mode or "binary",
        seed=seed,
        following=seed % MOST_SEEDS + 1,
        variables=[(one, values.get(one, "")) for one in maker.variables],
        problem=problem,
        snippets=snippets(record, base, definition.xid, values, protocol, mode) if record is not None else [],
        json_url="",
        kept=False,
    )


def make_example(
    maker: Maker, given: dict[str, str], protocol: str, mode: str, seed: int, data: Any = AUTO
) -> tuple[dict[str, Any], dict[str, str]]:
    """An example record, and the values that its placeholders have; MakeRefused where none can be made."""
    refused: MakeRefused | None = None
    for sample in _SAMPLES:
        values = {name: given.get(name) or sample.format(name=name) for name in maker.variables}
        values |= {name: value for name, value in given.items() if name not in values}
        try:
            rng = random.Random(seed)  # noqa: S311 - sample data, no secrets
            made = maker.make(values, data, protocol=protocol, mode=mode, rng=rng)
        except MakeRefused as error:
            refused = refused or error
            continue
        return render_record(made), values
    raise refused or MakeRefused("no example can be made.")
