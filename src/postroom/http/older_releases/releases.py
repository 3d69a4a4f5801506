"""The release candidates that `?specversion=` can name, and how they differ from 1.0-rc4, as data."""

from __future__ import annotations

import msgspec

from postroom.documents.dialects.name_tables import CORE_CHECKS, RELEASE_ATTRIBUTES
from postroom.registry.configuration.capabilities import Capabilities
from postroom.registry.query.flags import Query, comparable_version

FLAG = "specversion"


class OlderRelease(msgspec.Struct, frozen=True, kw_only=True):
    """One version of the specification; the defaults are what it has in common with 1.0-rc4."""

    specversion: str
    attributes: dict[str, str] = {}
    """Attributes of Versions: its names, and those of today."""
    model_aspects: dict[str, str] = {}
    """Aspects of Group types and Resource types: its names, and those of today."""
    hidden: frozenset[str] = frozenset()
    """Attributes that the server writes and that it does not know."""
    map_separator: str = "."
    """What stands between a map and its key in the name of a header."""
    address: str = "uri"
    """The member of an address of an endpoint that holds it."""
    deployed: bool = True
    """Whether an endpoint is deployed unless it says otherwise."""
    exported: tuple[str, ...] = ()
    """What `/export` shows beside entities, where that is not what it shows today."""
    is_rc2: bool = False
    """Whether it is 1.0-rc2, whose capabilities, problems, `meta` and endpoints have another form."""

    @property
    def theirs(self) -> dict[str, str]:
        """Today's names of attributes of Versions, and its own."""
        return {ours: theirs for theirs, ours in self.attributes.items()}


RC3 = OlderRelease(specversion="1.0-rc3", attributes=RELEASE_ATTRIBUTES, address="url", deployed=False)
RC2 = OlderRelease(
    specversion="1.0-rc2",
    attributes={**RELEASE_ATTRIBUTES, "basemessageurl": "basemessage"},
    model_aspects={"compatiblewith": "modelcompatiblewith"},
    hidden=frozenset(CORE_CHECKS) - {"contenttype"},
    map_separator="-",
    deployed=False,
    exported=("capabilities", "model"),
    is_rc2=True,
)
ANY = OlderRelease(specversion="", attributes=RELEASE_ATTRIBUTES)
"""Older names that every request can use (FLAG-067)."""
RELEASES = {release.specversion: release for release in (RC3, RC2)}


def named_release(query: Query) -> OlderRelease | None:
    """The older version that a query names; none when it names today's, an unknown one, or several."""
    given = [value for name, value in query if name == FLAG]
    return RELEASES.get(comparable_version(given[0])) if len(given) == 1 else None


def requested_release(query: Query, capabilities: Capabilities) -> OlderRelease | None:
    """The older version that a query names, if the registry supports the flag."""
    return named_release(query) if FLAG in capabilities.flags else None
