"""What all answers have: JSON as bytes, its content type, the link to the registry's root."""

from __future__ import annotations

import msgspec

from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.http.xregistry.proxied_documents import encoded
from postroom.registry.write.unit_of_work import Interaction
from postroom.replication.changes.has_readers import has_readers
from postroom.settings import Settings

JSON_TYPE = "application/json; charset=utf-8"  # HTTP-016, C-64


CORRELATION = "xRegistry-xregcorrelationid"


def correlated(given: Response, interaction: Interaction, settings: Settings) -> Response:
    """The answer to a write, with what its events can be told by (EVT-007).

    Events have to reach somebody: the reference server has none, and clients made for it refuse headers they do not
    know. So the header is sent from the first reader of changes on, unless the settings say always.
    """
    if settings.correlation_header != "always" and not has_readers(interaction.tx):
        return given
    return msgspec.structs.replace(given, headers={**given.headers, CORRELATION: interaction.correlation})


def completed(given: Response, request: Request, settings: Settings, *, waits: bool = True) -> Response:
    """The answer as it is sent, apart from compression and what concerns the connection; see `encoded` for `waits`."""
    links = [f"<{request.base}>;rel=xregistry-root", *([given.headers["Link"]] if "Link" in given.headers else [])]
    is_json = given.json is not msgspec.UNSET
    headers = {**({"Content-Type": JSON_TYPE} if is_json else {}), **given.headers, "Link": ", ".join(links)}
    return encoded(msgspec.structs.replace(given, headers=headers), settings, waits=waits)
