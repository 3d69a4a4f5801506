import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.errors import DefinitionRefused
from postroom.messages.definitions.templates import Template, has_placeholder


@pytest.mark.feature("MSG-046", "MSG-047", "MSG-050")
@pytest.mark.parametrize(
    ("template", "text", "bound"),
    [
        ("{foo}/bar", "abc/bar", {"foo": "abc"}),
        ("/vehicles/{vin}", "/vehicles/1234", {"vin": "1234"}),
        ("/vehicles/{vin}", "/boats/9", None),
        ("/vehicles/{vin}", "/vehicles/", None),
        ("/vehicles/{vin}", "/vehicles/1/2", None),
        ("/vehicles/{vin}", "/vehicles/1?x", None),
        ("/vehicles/{vin}", "/vehicles/1\n", {"vin": "1\n"}),
        ("/{a}/x/{b}", "/1/x/2", {"a": "1", "b": "2"}),
        ("{a}-{b}", "1-2-3", {"a": "1", "b": "2-3"}),
        ("{a}.{a}", "x.x", {"a": "x"}),
        ("{a}.{a}", "x.y", None),
        ("trips/{trip}", "trips/a%20b", {"trip": "a b"}),
        ("plain", "plain", {}),
        ("plain", "plain\n", None),
        ("a.c", "abc", None),
    ],
)
def test_values_are_extracted_from_a_string(template: str, text: str, bound: dict[str, str] | None) -> None:
    assert Template(template).extract(text) == bound


def test_a_placeholder_alone_takes_any_non_empty_text() -> None:
    alone = Template("{station}")
    assert alone.extract("a/b?c#d") == {"station": "a/b?c#d"}
    assert alone.extract("") is None
    assert alone.expand({"station": "a/b c"}) == "a/b c"


@pytest.mark.feature("MSG-048")
def test_values_between_literals_are_percent_encoded() -> None:
    assert Template("/v/{vin}/x").expand({"vin": "a/b c"}) == "/v/a%2Fb%20c/x"


def test_placeholders_side_by_side_are_refused() -> None:
    with pytest.raises(DefinitionRefused, match="side by side"):
        Template("/{a}{b}")


@pytest.mark.parametrize(
    ("text", "expected"), [("{vin}", True), ("{}", False), ("{a b}", False), ("x", False), (5, False)]
)
def test_other_braces_are_literal(text: object, expected: bool) -> None:
    assert has_placeholder(text) is expected


@given(
    values=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), min_size=3, max_size=3)
)
def test_extraction_is_the_inverse_of_expansion(values: list[str]) -> None:
    template = Template("/fleet/{a}/x-{b}.{c}?end")
    bound = dict(zip("abc", (value.replace(".", "_") for value in values), strict=True))
    assert template.extract(template.expand(bound)) == bound


def test_hostile_strings_are_matched_in_linear_time() -> None:
    # Six placeholders over half a million separators: with backtracking this would not end in a lifetime.
    template = Template("{a}-{b}-{c}-{d}-{e}-{f}!")
    assert template.extract("-" * 500_000) is None
    assert template.extract("x-" * 250_000) is None


@given(
    template=st.sampled_from(
        ["/v/{a}/x/{b}", "{a}-{b}", "/{a}.{b}/{c}", "/v/{a}", "{a}", "{a}.{a}", "plain", "/{a}/{b}.", "/é/{a}?{b}"]
    ),
    values=st.lists(
        st.text("av/x-.é?%2\n1", max_size=9) | st.sampled_from(["/v/1/x/2", "a-b", "/1.2/3", "/é/1?2", ""]), max_size=6
    ),
)
def test_a_column_has_the_values_of_its_strings(template: str, values: list[str]) -> None:
    compiled = Template(template)
    alone = [compiled.extract(value) for value in values]
    names = compiled.names
    assert compiled.extract_all(values) == [
        None if one is None else tuple(one[name] for name in names) for one in alone
    ]
    again = values * 5
    assert compiled.extract_all(again) == compiled.extract_all(values) * 5
    columns = compiled.columns(again) if names and values else None
    if columns is not None:
        nothing = ("",) * len(names)
        assert list(zip(*columns, strict=True)) == [
            nothing if one is None else tuple(one[name] for name in names) for one in alone * 5
        ]


def test_repeated_strings_are_extracted_by_column() -> None:
    template = Template("/é/{a}/{b}")
    found = template.columns(["/é/1/2", "/%C3%A9/a%20b/2", "/é/1", "/é/x\ny/z"] * 5)
    assert found == [["1", "a b", "", "x\ny"] * 5, ["2", "2", "", "z"] * 5]


def test_a_placeholder_alone_takes_a_column_as_it_is() -> None:
    assert Template("{a}").columns(["a/b", "%20", "", "x\ny"]) == [["a/b", "%20", "", "x\ny"]]
    assert Template("{a}").extract_all(["a/b", "%20", "", "x\ny"]) == [("a/b",), ("%20",), None, ("x\ny",)]


def test_a_column_with_values_that_are_no_strings_is_refused() -> None:
    with pytest.raises(TypeError):
        Template("/v/{a}/x/{b}").extract_all(["/v/1/x/2", None])
    for odd in (None, 7, ["/v/1/x/2"]):
        with pytest.raises(TypeError):
            Template("/v/{a}/x/{b}").columns(["/v/1/x/2"] * 5 + [odd])  # type: ignore[list-item]  # that is the point
