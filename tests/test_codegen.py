"""Generated code: what it may be made of, and that it is executed in one place only."""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from types import SimpleNamespace

import pytest

import postroom
from postroom.codegen import GeneratedCode, attribute

HOSTILE = ["a b", "x); raise SystemExit(", "'", '"', "\n", "class", "__class__", "ﬁ", "é", "", "1st", "a\\"]


def test_a_function_reads_the_constants_of_its_namespace():
    code = GeneratedCode("greeting", upper=str.upper)
    word = code.constant("hello")
    assert code.define("greet", ["def greet(name):", f" return f'{{upper({word})}} {{name}}'"])("Ada") == "HELLO Ada"


def test_every_constant_has_its_own_name():
    code = GeneratedCode("constants", first=1)
    names = [code.constant(value) for value in "abc"]
    assert [code.names[name] for name in names] == ["a", "b", "c"]


def test_equal_source_is_compiled_once_and_keeps_its_own_constants():
    read = []
    for value in ("one", "two"):
        code = GeneratedCode("shared")
        read.append(code.define("read", ["def read():", f" return {code.constant(value)}"]))
    assert [function() for function in read] == ["one", "two"]
    assert read[0].__code__ is read[1].__code__


def test_tracebacks_say_what_the_code_was_generated_for():
    fail = GeneratedCode("order reader").define("fail", ["def fail():", " raise LookupError"])
    with pytest.raises(LookupError) as caught:
        fail()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].filename == "<order reader>"


@pytest.mark.parametrize("name", ["colour", "_hidden", "Größe", *HOSTILE])
def test_an_attribute_is_read_whatever_its_name_is(name):
    code = GeneratedCode("attribute")
    read = code.define("read", ["def read(m):", f" return {attribute('m', name)}"])
    owner = SimpleNamespace()
    if name == "__class__":
        assert read(owner) is SimpleNamespace
        return
    setattr(owner, name, "value")
    assert read(owner) == "value"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_is_no_plain_identifier_is_quoted(name):
    assert attribute("m", name) == f"getattr(m, {name!r})"


def test_no_other_module_executes_code():
    package = Path(postroom.__file__).parent
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"(?<![\w.])(?<!def )(exec|eval|compile)\(", path.read_text(encoding="utf-8"))
    }
    assert found == {"codegen.py"}
