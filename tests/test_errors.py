import inspect
import pickle
import re

from postroom import errors
from postroom.errors import DocumentBroken, PostroomError

CLASSES = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, PostroomError)]
PARENTS = {c.__base__ for c in CLASSES}
LEAVES = [c for c in CLASSES if c not in PARENTS or c is errors.SchemaRefused]


def test_the_tree_at_the_top_names_every_error_with_its_code() -> None:
    drawn = dict(re.findall(r"[├└]── (\w+) +([a-z_]+)$", errors.__doc__ or "", re.MULTILINE))
    assert drawn == {c.__name__: c.code for c in LEAVES}


def test_codes_are_unique_and_every_error_explains_itself() -> None:
    codes = [c.code for c in LEAVES]
    assert len(set(codes)) == len(codes)
    assert all(c.__doc__ for c in CLASSES)


def test_exit_codes_are_those_of_the_contract() -> None:
    assert {c.exit_code for c in LEAVES} == {2, 3}


def test_an_error_reads_as_place_sentence_remedy_and_survives_pickling() -> None:
    error = DocumentBroken("it is broken.", place="a.json:1:2", remedy="Mend it.")
    assert str(error) == "a.json:1:2: it is broken. Mend it."
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(again), str(again), again.code) == (DocumentBroken, str(error), "document_broken")
