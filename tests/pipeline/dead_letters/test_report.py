from __future__ import annotations

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import BadFlag
from postroom.messages.matching.explain import explain_match
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.dead_letters.report import letter_files, summarise_letters
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.worker.sort_task import write_batch


def test_letters_are_counted_by_outcome_and_reason(sorted_lake: Lake) -> None:
    groups = summarise_letters(sorted_lake)
    assert sum(group.letters for group in groups) == 5
    assert ("invalid", "template_mismatch", 1) in [(g.outcome, g.code, g.letters) for g in groups]


def test_each_group_has_a_sample_with_its_reasons_and_place(sorted_lake: Lake) -> None:
    boat = next(group for group in summarise_letters(sorted_lake) if group.code == "template_mismatch")
    assert b"/boats/9" in boat.record
    assert boat.match.message == "/messagegroups/fleet/messages/vehicle.position"
    assert boat.match.reasons[0].expected == "/vehicles/{vin}"
    assert boat.source.endswith("mixed.jsonl")


@pytest.mark.audit("messages-D22")
def test_a_letter_is_explained_with_the_names_of_its_catalog(lake: Lake) -> None:
    options = {"path": "/hot", "headers": [{"name": "X-Unit", "value": "C"}]}
    message = {"protocol": "HTTP", "protocoloptions": options}
    catalog = Catalog({"messagegroups": {"ovens": {"messages": {"hot": message}}}})
    job = Job(str(lake.root), lake.keep_catalog(catalog.compiled), "strict", "r", 0, datetime.now(UTC))
    sent = {"protocol": "HTTP", "metadata": {"path": "/hot", "headers": [{"name": "X-Unit", "value": "F"}]}}
    line = json.dumps(sent).encode()
    batch = pa.RecordBatch.from_pydict({"source": ["f"], "position": [0], "value": [line]})
    commit_batch(lake, job, "records", [write_batch(job, [batch])])
    (group,) = summarise_letters(lake)
    explained = explain_match(group.match, group.constraints(lake))
    assert "Set the header X-Unit to 'C'." in explained
    assert explained == catalog.explain(catalog.match(line))
    (lake.root / "_catalogs" / group.catalog).unlink()
    assert group.constraints(lake) == {}


def test_a_lake_without_letters_has_no_groups(lake: Lake) -> None:
    assert summarise_letters(lake) == []


@pytest.mark.parametrize(
    ("filters", "letters"),
    [
        ({"outcome": "invalid"}, 3),
        ({"outcome": "ambiguous"}, 0),
        ({"message": "/messagegroups/shop/messages/order.placed"}, 1),
        ({"message": "order.placed"}, 1),
        ({"message": "it's nothing"}, 0),
        ({"where": "index = 2 -- of its batch"}, 1),
        ({"outcome": "invalid", "message": "vehicle.position", "where": "reasons[1].code = 'template_mismatch'"}, 1),
    ],
)
def test_letters_can_be_narrowed_down(sorted_lake: Lake, filters: dict[str, str], letters: int) -> None:
    assert sum(group.letters for group in summarise_letters(sorted_lake, **filters)) == letters


@pytest.mark.parametrize(
    ("filters", "sentence"),
    [
        ({"outcome": "lost"}, "there is no outcome 'lost'; dead letters are invalid, ambiguous, unmatched, malformed."),
        ({"where": "colour = 'red'"}, "The columns are _record_id, outcome, message"),
        ({"where": "true) UNION SELECT (1"}, "Parser|Binder"),
    ],
)
def test_a_bad_filter_is_one_sentence(sorted_lake: Lake, filters: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadFlag, match=sentence) as error:
        summarise_letters(sorted_lake, **filters)
    assert "\n" not in str(error.value)


def test_files_of_letters_are_counted_by_a_condition(sorted_lake: Lake) -> None:
    (file,) = letter_files(sorted_lake)
    assert (file.rows, file.chosen) == (5, 5)
    assert [file.chosen for file in letter_files(sorted_lake, "outcome = 'invalid'")] == [3]
    with pytest.raises(BadFlag, match="The columns are _record_id, outcome"):
        letter_files(sorted_lake, "colour")
