"""What a registry does at present, out of what the server offers; clients may change it."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.registry.configuration import offered_capabilities
from postroom.registry.problems import RegistryProblem
from postroom.registry.rules import Rules
from postroom.registry.transaction_interface import Transaction


class Access(msgspec.Struct, frozen=True):
    """Whether a kind of data can be changed by clients."""

    mutable: bool = False


UNSET_AVAILABLE = {"capabilities": Access(), "entities": Access(mutable=True), "model": Access()}


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """The capabilities in force; the defaults are those of the specification, for what an update leaves out."""

    available: dict[str, Access] = msgspec.field(default_factory=lambda: dict(UNSET_AVAILABLE))
    compatibilities: dict[str, tuple[str, ...]] = {}
    flags: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    pagination: bool = False
    shortself: bool = False
    specversions: tuple[str, ...] = offered_capabilities.SPECVERSIONS
    versionmodes: tuple[str, ...] = ("manual",)

    def document(self) -> dict[str, Any]:
        """The map that clients see."""
        return msgspec.json.decode(msgspec.json.encode(self), type=dict[str, Any])

    def mutable(self, kind: str) -> bool:
        """Whether clients can change a kind of data."""
        return kind in self.available and self.available[kind].mutable

    def why_immutable(self, kind: str) -> str:
        """Why clients cannot change a kind of data, and how they can again; empty where they can."""
        if self.mutable(kind):
            return ""
        way_back = (
            "PATCH /capabilities can set it back"
            if self.mutable("capabilities") and kind != "capabilities"
            else "only a start with `postroom serve --reset-capabilities` sets it back"
        )
        return f"The capability available.{kind}.mutable is false: clients cannot change this at present; {way_back}."

    def require(self, kind: str) -> None:
        """Refuse access to data that is not available (CAP-007)."""
        if kind not in self.available:
            raise RegistryProblem("not_available", f"/{kind}")


def initial_capabilities(rules: Rules) -> Capabilities:
    """What a new registry has, and one whose capabilities are set to null: everything that is offered."""
    return Capabilities(
        available={name: Access(mutable=True in values) for name, values in offered_capabilities.AVAILABLE.items()},
        compatibilities=offered_capabilities.compatibilities(rules),
        **offered_capabilities.lists(rules),  # type: ignore[arg-type]  # the names of the table are those of the fields
    )


def read_capabilities(tx: Transaction) -> Capabilities:
    """The capabilities in force."""
    stored = tx.capabilities()
    return initial_capabilities(tx.rules) if stored is None else msgspec.convert(stored, Capabilities)
