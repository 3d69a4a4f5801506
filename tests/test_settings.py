from pathlib import Path

import pytest

from postroom.errors import BadSetting, UnknownSetting
from postroom.settings import FIELDS, Settings, describe, explain_settings, load_settings, variable


def test_flags_win_over_variables_win_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "postroom.toml").write_text('host = "file"\nport = 1\nworkers = 2\nallow_fetch = ["a.example"]')
    environ = {"POSTROOM_HOST": "variable", "POSTROOM_PORT": "3", "HOME": "x"}
    settings = load_settings({"host": "flag", "workers": None}, environ, tmp_path)
    assert (settings.host, settings.port, settings.workers) == ("flag", 3, 2)
    assert settings.allow_fetch == ("a.example",)
    sources = {origin.name: origin.source for origin in explain_settings(environ, tmp_path)}
    assert (sources["host"], sources["workers"], sources["db"]) == ("POSTROOM_HOST", "postroom.toml", "default")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("allow_fetch", "a.example, b.example:80", ("a.example", "b.example:80")),
        ("insecure", "1", True),
        ("insecure", "false", False),
        ("timeout_s", "2.5", 2.5),
        ("nulls", "absent", "absent"),
    ],
)
def test_variables_are_typed(tmp_path: Path, name: str, text: str, value: object) -> None:
    assert getattr(load_settings(None, {variable(name): text}, tmp_path), name) == value


@pytest.mark.parametrize(
    ("environ", "file", "error", "says"),
    [
        ({"POSTROOM_PROT": "1"}, "", UnknownSetting, "POSTROOM_PROT: there is no setting 'prot'. Did you mean port?"),
        ({}, "colour = 1", UnknownSetting, "postroom.toml: there is no setting 'colour'"),
        (
            {"POSTROOM_PORT": "x"},
            "",
            BadSetting,
            "POSTROOM_PORT: 'x' does not fit; port is a whole number from 0 to 65535.",
        ),
        ({"POSTROOM_PORT": "70000"}, "", BadSetting, "65535"),
        ({"POSTROOM_NULLS": "maybe"}, "", BadSetting, "nulls is one of absent, strict"),
        ({"POSTROOM_INSECURE": "perhaps"}, "", BadSetting, "insecure is true or false"),
        ({}, "port = ", BadSetting, "not valid TOML"),
        ({}, "port = [1]", BadSetting, "port"),
    ],
)
def test_bad_settings_are_one_sentence(
    tmp_path: Path, environ: dict[str, str], file: str, error: type[Exception], says: str
) -> None:
    (tmp_path / "postroom.toml").write_text(file)
    with pytest.raises(error) as caught:
        load_settings(None, environ, tmp_path)
    assert says in str(caught.value)


def test_every_setting_is_described_and_the_defaults_hold() -> None:
    assert all(describe(name) for name in FIELDS)
    assert load_settings(None, {}, Path("/")) == Settings()


def test_secrets_are_not_told(tmp_path: Path) -> None:
    environ = {"POSTROOM_WEBHOOK_SECRET": "open sesame"}
    assert load_settings(None, environ, tmp_path).webhook_secret == "open sesame"
    assert "sesame" not in str(explain_settings(environ, tmp_path))
    (tmp_path / "postroom.toml").write_text('webhook_secret = ["open sesame"]')
    with pytest.raises(BadSetting) as refused:
        load_settings(None, {}, tmp_path)
    assert "sesame" not in str(refused.value)


@pytest.mark.parametrize(
    ("database", "shown"),
    [
        ("postgresql://ann:s3cret@db.example:5432/catalog?password=s3cret", "postgresql://db.example:5432/catalog"),
        ("postgresql:///catalog?user=ann&password=s3cret", "postgresql:///catalog"),
        ("sqlite:///registry.db", "sqlite:///registry.db"),
    ],
)
def test_the_password_of_a_database_is_not_told(tmp_path: Path, database: str, shown: str) -> None:
    environ = {"POSTROOM_DB": database}
    assert load_settings(None, environ, tmp_path).db == database
    assert {one.name: one.value for one in explain_settings(environ, tmp_path)}["db"] == shown
