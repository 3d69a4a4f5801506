"""Media types of catalog documents: what each dialect is called on the wire, and which form an answer is in."""

from __future__ import annotations

from typing import Literal

Form = Literal["json", "yaml"]

# The 0.5 service has types of its own for `.cereg` files; no other text names any.
_OWN = {"0.5-service": "application/cloudevents-registry+"}


def media_type(dialect: str, form: Form) -> str:
    """The media type of a document in a dialect."""
    return _OWN.get(dialect, "application/") + form


def form_of_type(content_type: str) -> Form:
    """Whether a document of some media type is YAML; anything else is taken for JSON."""
    name = content_type.partition(";")[0].strip().lower()
    return "yaml" if name.rpartition("/")[2].rpartition("+")[2] in ("yaml", "x-yaml") else "json"
