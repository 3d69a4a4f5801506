import pytest

from postroom.model.json_pointers import pointer


@pytest.mark.parametrize(
    ("steps", "expected"), [((), ""), (("a", 0), "/a/0"), (("a/b", "c~d"), "/a~1b/c~0d"), (("",), "/")]
)
def test_steps_are_escaped(steps: tuple[object, ...], expected: str) -> None:
    assert pointer(steps) == expected
