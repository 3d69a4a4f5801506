"""A client of the message catalog: short names for its usual requests."""

from __future__ import annotations

import json
from typing import Any

from tests.http.requests import AsgiClient, Reply

JSON = "application/json"
HEATED: dict[str, Any] = {
    "id": "com.example.oven.heated",
    "description": "Raised when an oven is hot",
    "format": "CloudEvents",
    "version": 1,
    "attributes": {
        "specversion": "1.0",
        "type": "com.example.oven.heated",
        "source": "/bakeries/{bakery}",
        "subject": "{oven}",
        "datacontenttype": "application/json",
        "dataschema": "https://schemas.example.com/oven/1",
    },
}


class CatalogClient(AsgiClient):
    """Requests to the catalog at its usual path."""

    def group(self, group: str = "ovens", form: str = "CloudEvents") -> None:
        """A group of a format."""
        assert self.ask("PUT", f"/messagecatalog/{group}", {"format": form}).status in (200, 201)

    def post(
        self,
        document: Any = HEATED,
        path: str = "ovens/messagedefinitions/heated",
        contenttype: str | None = JSON,
        **headers: str,
    ) -> Reply:
        """Add a version; `path` may have a query."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        named = {f"Message-Definition-{name}": value for name, value in headers.items()}
        typed = {"Content-Type": contenttype} if contenttype else {}
        return self.ask("POST", f"/messagecatalog/{path}", body, {**typed, **named})

    def get(self, path: str = "ovens/messagedefinitions/heated") -> Reply:
        """Read something of the catalog."""
        return self.ask("GET", f"/messagecatalog/{path}".rstrip("/"))

    def native(self, xid: str = "/messagegroups/ovens/messages/heated") -> Any:
        """What the xRegistry API shows."""
        reply = self.ask("GET", xid)
        assert reply.status == 200, reply.body
        return reply.json


def varied(**attributes: Any) -> dict[str, Any]:
    """The heated oven with other attributes; None leaves one out."""
    said = {**HEATED["attributes"], **attributes}
    return {**HEATED, "attributes": {name: value for name, value in said.items() if value is not None}}
