import pytest

from postroom.formats.jsonschema.validator_panics import is_panic, panics_as

# Rust's bindings make a class of this name that no module offers.
PanicException = type("PanicException", (BaseException,), {})


def test_a_panic_becomes_a_refusal() -> None:
    with pytest.raises(ValueError, match="gave up"), panics_as(ValueError("gave up")):
        raise PanicException
    assert is_panic(PanicException())


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, TypeError])
def test_other_exceptions_pass_unchanged(kind: type[BaseException]) -> None:
    with pytest.raises(kind), panics_as(ValueError("gave up")):
        raise kind
    assert not is_panic(kind())
