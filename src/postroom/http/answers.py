"""What all answers have: JSON as bytes, its content type, the link to the registry's root."""

from __future__ import annotations

import msgspec

from postroom.http.calls import Answer, Call
from postroom.http.proxying import encoded
from postroom.settings import Settings

JSON_TYPE = "application/json; charset=utf-8"  # HTTP-016, C-64


def completed(given: Answer, call: Call, settings: Settings) -> Answer:
    """The answer as it is sent, apart from compression and what concerns the connection."""
    links = [f"<{call.base}>;rel=xregistry-root", *([given.headers["Link"]] if "Link" in given.headers else [])]
    is_json = given.json is not msgspec.UNSET
    headers = {**({"Content-Type": JSON_TYPE} if is_json else {}), **given.headers, "Link": ", ".join(links)}
    return encoded(msgspec.structs.replace(given, headers=headers), settings)
