"""META: the meta entity of a Resource."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from postroom.registry.entities import Change
from tests.registry.http_client import BASE, Wire

PAGE = "/dirs/d1/pages/p1"
FILE = "/dirs/d1/files/f1"


@pytest.mark.feature("META-001")
@pytest.mark.parametrize("method", ["DELETE", "POST"])
def test_meta_cannot_be_deleted(dirs: Wire, method: str) -> None:
    dirs.ok("PUT", PAGE, {})
    answer = dirs.send(method, f"{PAGE}/meta", {} if method == "POST" else None)
    assert (answer.status, answer.problem) == (405, "action_not_supported")
    assert {"GET", "PUT", "PATCH"} <= set(answer.headers["allow"].replace(" ", "").split(","))
    dirs.get(f"{PAGE}/meta")


@pytest.mark.feature("META-002", "META-015", "META-004")
@pytest.mark.parametrize(("xid", "singular", "suffix"), [(PAGE, "page", ""), (FILE, "file", "$details")])
def test_meta_shows_exactly_its_attributes(dirs: Wire, xid: str, singular: str, suffix: str) -> None:
    dirs.ok("PUT", f"{xid}$details", {})
    shown = dirs.ok("PUT", f"{xid}/meta", {"labels": {"a": "b"}, "deprecated": {}})
    assert shown == {
        f"{singular}id": xid[-2:],
        "self": f"{BASE}{xid}/meta",
        "xid": f"{xid}/meta",
        "epoch": 2,
        "labels": {"a": "b"},
        "deprecated": {},
        "createdat": shown["createdat"],
        "modifiedat": shown["modifiedat"],
        "readonly": False,
        "defaultversionid": "1",
        "defaultversionurl": f"{BASE}{xid}/versions/1{suffix}",
        "defaultversionsticky": False,
    }


@pytest.mark.feature("META-004", "REG-026")
def test_readonly_is_not_the_client_s_to_set(dirs: Wire) -> None:
    dirs.ok("PUT", PAGE, {"meta": {"readonly": True}})
    assert dirs.get(f"{PAGE}/meta")["readonly"] is False
    assert dirs.ok("PATCH", f"{PAGE}/meta", {"readonly": True})["readonly"] is False
    dirs.ok("PATCH", PAGE, {"name": "still mine"})


@pytest.mark.feature("META-010", "META-012")
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_default_has_to_exist_when_it_is_to_stay(dirs: Wire, method: str) -> None:
    dirs.ok("PUT", PAGE, {"versions": {"v1": {}, "v2": {}}})
    wrong = {"defaultversionid": "v9", "defaultversionsticky": True}
    assert dirs.refusal(method, f"{PAGE}/meta", wrong) == "unknown_id"
    assert dirs.refusal(method, f"{PAGE}/meta", {**wrong, "defaultversionid": "V1"}) == "unknown_id"
    assert dirs.refusal(method, PAGE, {"meta": wrong}) == "unknown_id"
    # Not sticky: whatever was asked for, the newest it is (core/resource.md, non-sticky bad defaultversionid).
    shown = dirs.ok(method, f"{PAGE}/meta", {**wrong, "defaultversionsticky": False})
    assert (shown["defaultversionid"], shown["defaultversionsticky"]) == ("v2", False)
    # A Version of the same request counts.
    dirs.ok(method, PAGE, {"meta": {**wrong, "defaultversionid": "v3"}, "versions": {"v3": {}}})
    assert dirs.get(f"{PAGE}/meta")["defaultversionid"] == "v3"


@pytest.mark.feature("META-011", "META-013", "META-016")
@pytest.mark.parametrize(
    ("method", "before", "body", "after"),
    [
        ("PATCH", None, {"defaultversionid": "v1"}, ("v1", True)),
        ("PATCH", "v1", {"defaultversionid": None}, ("v2", False)),
        ("PATCH", "v1", {}, ("v1", True)),
        ("PATCH", "v1", {"defaultversionsticky": True}, ("v1", True)),
        ("PATCH", None, {"defaultversionsticky": True}, ("v2", True)),
        ("PATCH", "v1", {"defaultversionsticky": False}, ("v2", False)),
        ("PATCH", "v1", {"defaultversionsticky": None}, ("v2", False)),
        ("PATCH", "v1", {"defaultversionsticky": False, "defaultversionid": "v1"}, ("v2", False)),
        ("PUT", "v1", {}, ("v2", False)),
        ("PUT", "v1", {"defaultversionid": "v1"}, ("v2", False)),
        ("PUT", "v1", {"defaultversionsticky": None}, ("v2", False)),
        ("PUT", "v1", {"defaultversionsticky": True}, ("v2", True)),
        ("PUT", None, {"defaultversionsticky": True, "defaultversionid": "v1"}, ("v1", True)),
    ],
)
def test_choosing_the_default(dirs: Wire, method: str, before: Any, body: Any, after: Any) -> None:
    dirs.ok("PUT", PAGE, {"versions": {"v1": {}, "v2": {}}})
    dirs.ok("PATCH", f"{PAGE}/meta", {"defaultversionid": before})
    versions, meta = dirs.get(f"{PAGE}/versions"), dirs.get(f"{PAGE}/meta")
    shown = dirs.ok(method, f"{PAGE}/meta", body)
    assert (shown["defaultversionid"], shown["defaultversionsticky"]) == after
    assert shown["epoch"] == meta["epoch"] + 1
    for one, version in dirs.get(f"{PAGE}/versions").items():
        assert version.pop("isdefault") == (one == after[0])
        versions[one].pop("isdefault")
        assert version == versions[one]


@pytest.mark.feature("META-016")
@pytest.mark.parametrize("value", ["true", 1, {}, []])
def test_sticky_is_true_or_false(dirs: Wire, value: Any) -> None:
    dirs.ok("PUT", PAGE, {})
    assert dirs.refusal("PATCH", f"{PAGE}/meta", {"defaultversionsticky": value}) == "invalid_attribute"


@pytest.mark.feature("META-017")
@pytest.mark.parametrize("fixed", [True, False])
def test_a_model_may_fix_stickiness(wire: Wire, fixed: bool) -> None:
    sticky = {"type": "boolean", "enum": [fixed], "required": True, "default": fixed}
    pages = {"singular": "page", "hasdocument": False, "metaattributes": {"defaultversionsticky": sticky}}
    wire.ok("PUT", "/modelsource", {"groups": {"dirs": {"singular": "dir", "resources": {"pages": pages}}}})
    wire.ok("PUT", f"{PAGE}/versions/v1", {})
    wire.ok("PUT", f"{PAGE}/versions/v2", {})
    shown = wire.get(f"{PAGE}/meta")
    assert (shown["defaultversionsticky"], shown["defaultversionid"]) == (fixed, "v1" if fixed else "v2")
    assert wire.refusal("PUT", f"{PAGE}/meta", {"defaultversionsticky": not fixed}) == "invalid_attribute"


@pytest.mark.feature("META-003", "REG-051")
def test_meta_moves_with_the_set_of_versions_not_with_their_content(dirs: Wire) -> None:
    dirs.ok("PUT", f"{PAGE}/versions/v1", {})
    meta = dirs.get(f"{PAGE}/meta")
    dirs.ok("PUT", f"{PAGE}/versions/v1", {"name": "n"})
    dirs.ok("PATCH", PAGE, {"description": "d"})
    assert dirs.get(f"{PAGE}/meta") == meta
    dirs.ok("PUT", f"{PAGE}/versions/v2", {})
    added = dirs.get(f"{PAGE}/meta")
    assert (added["epoch"], added["modifiedat"] > meta["modifiedat"]) == (meta["epoch"] + 1, True)
    dirs.ok("DELETE", f"{PAGE}/versions/v2")
    assert dirs.get(f"{PAGE}/meta")["epoch"] == meta["epoch"] + 2


@pytest.mark.feature("META-007", "META-008")
def test_compatibility_is_a_known_word_in_any_case_or_absent(dirs: Wire) -> None:
    dirs.ok("PUT", PAGE, {})
    assert "compatibility" not in dirs.get(f"{PAGE}/meta")
    for word in ("backward", "forward", "full", "backward_transitive", "forward_transitive", "full_transitive", "FULL"):
        assert dirs.ok("PATCH", f"{PAGE}/meta", {"compatibility": word})["compatibility"].lower() == word.lower()
    for wrong in ("", 5, []):
        assert dirs.refusal("PATCH", f"{PAGE}/meta", {"compatibility": wrong}) == "invalid_attribute", wrong


@pytest.fixture
def locked(dirs: Wire) -> Wire:
    """p1 is read-only: clients cannot make it so, hence by the store; p2 is not."""
    dirs.ok("POST", "/dirs/d1/pages", {"p1": {"name": "old"}, "p2": {"name": "old"}})
    with dirs.store.write() as tx:
        page = tx.entity(PAGE)
        assert page is not None
        tx.put(msgspec.structs.replace(page, attributes={**page.attributes, "readonly": True}))
        tx.append_change(
            Change(xid=PAGE, action="updated", epoch=page.epoch, changed=(), actor="", correlation="", time="")
        )
    assert dirs.get(f"{PAGE}/meta")["readonly"] is True
    return dirs


@pytest.mark.feature("META-005", "ERR-059")
@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("PUT", PAGE, {}),
        ("PATCH", PAGE, {"name": "new"}),
        ("POST", PAGE, {}),
        ("DELETE", PAGE, None),
        ("PUT", f"{PAGE}/meta", {}),
        ("PATCH", f"{PAGE}/meta", {"readonly": False}),
        ("PUT", f"{PAGE}/versions/1", {}),
        ("PUT", f"{PAGE}/versions/2", {}),
        ("DELETE", f"{PAGE}/versions/1", None),
        ("POST", f"{PAGE}/versions", {"2": {}}),
        ("DELETE", f"{PAGE}/versions", None),
        ("PATCH", "/dirs/d1/pages", {"p1": {}, "p2": {}}),
        ("DELETE", "/dirs/d1/pages", {"p1": {}, "p2": {}}),
        ("PATCH", "/", {"dirs": {"d1": {"pages": {"p1": {}}}}}),
    ],
)
def test_what_is_read_only_is_not_written(locked: Wire, method: str, target: str, body: Any) -> None:
    assert locked.refusal(method, target, body) == "readonly"


@pytest.mark.feature("META-006", "FLAG-046")
def test_in_a_collection_the_read_only_can_be_left_out(locked: Wire) -> None:
    before = locked.get(f"{PAGE}?inline=*")
    answered = locked.ok("PATCH", "/dirs/d1/pages?ignore=readonly", {"p1": {"name": "new"}, "p2": {"name": "new"}})
    assert (list(answered), answered["p2"]["name"]) == (["p2"], "new")
    locked.ok("DELETE", "/dirs/d1/pages?ignore=readonly", {"p1": {}, "p2": {}})
    assert list(locked.get("/dirs/d1/pages")) == ["p1"]
    assert locked.get(f"{PAGE}?inline=*") == before
    assert locked.refusal("PATCH", f"{PAGE}?ignore=readonly", {"name": "new"}) == "bad_flag"
    assert locked.refusal("DELETE", f"{PAGE}?ignore=readonly") == "bad_flag"
