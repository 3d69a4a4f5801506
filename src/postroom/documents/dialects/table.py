"""All dialects, newest first. A new one is one module and one line here."""

from __future__ import annotations

from postroom.documents.dialects import catalog, half, rc
from postroom.documents.dialects.dialect import Dialect

ALL = (rc.RC4, rc.RC3, rc.MAY_2026, rc.SEPTEMBER_2025, rc.RC2, half.MESSAGE, half.SERVICE, catalog.DIALECT)
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in ALL}
