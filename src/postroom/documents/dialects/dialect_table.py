"""All dialects, newest first. A new one is one module and one line here."""

from __future__ import annotations

from postroom.documents.dialects import messagecatalog, release_candidates, v0_5
from postroom.documents.dialects.dialect import Dialect

ALL = (
    release_candidates.RC4,
    release_candidates.RC3,
    release_candidates.MAY_2026,
    release_candidates.SEPTEMBER_2025,
    release_candidates.RC2,
    v0_5.MESSAGE,
    v0_5.SERVICE,
    messagecatalog.DIALECT,
)
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in ALL}
