"""A client of the schema registry that says what it expects."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from tests.http.principals import Principal

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


def avro(name: str, *fields: str | tuple[str, Any]) -> str:
    """An Avro record; of a pair the second is a default, strings are without one."""
    members = [
        {"name": one, "type": "string"}
        if isinstance(one, str)
        else {"name": one[0], "type": "string", "default": one[1]}
        for one in fields
    ]
    return json.dumps({"type": "record", "name": name, "fields": members})


class SubjectClient(Principal):
    """Asks the mount below /confluent."""

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of an answer, whose form is checked on the way."""
        reply = self.ask(method, f"/confluent{path}", b"" if body is None else body)
        assert "link" not in reply.headers
        assert reply.headers["content-type"] == MEDIA_TYPE
        found = reply.json
        if reply.status >= 400:
            assert found.keys() == {"error_code", "message"}
            assert str(found["error_code"])[:3] == str(reply.status)
        return reply.status, found

    def good(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of an answer that is good."""
        status, found = self.call(method, path, body)
        assert status == 200, found
        return found

    def error(self, method: str, path: str, body: Any = None) -> int:
        """The code of a refusal."""
        status, found = self.call(method, path, body)
        assert status >= 400, found
        return int(found["error_code"])

    def register(self, subject: str, schema: str, kind: str = "AVRO", **more: Any) -> int:
        """Register a schema; its id."""
        body = {"schema": schema, "schemaType": kind, **more}
        return int(self.good("POST", f"/subjects/{quote(subject, safe='')}/versions", body)["id"])
