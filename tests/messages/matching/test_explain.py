import re
from pathlib import Path

from postroom.messages.matching.explain import SENTENCES, explain_match, explain_reason
from postroom.messages.matching.outcome import Match, Reason

SOURCES = Path(__file__).parents[3] / "src" / "postroom"


def test_a_near_miss_reads_like_a_sentence() -> None:
    reason = Reason("/m", "/envelopemetadata/source", "template_mismatch", "/vehicles/{vin}", "/boats/9")
    assert explain_reason(reason) == "/envelopemetadata/source must look like '/vehicles/{vin}' but is '/boats/9'"


def test_matches_are_explained_in_words() -> None:
    assert explain_match(Match("landed", "/m", {"vin": "7"})) == "landed     /m with vin=7"
    other = Reason("/other", "/protocol", "protocol_mismatch", "NATS", "KAFKA")
    told = explain_match(Match("unmatched", reasons=(other,)))
    assert told.splitlines() == [
        "unmatched  no definition",
        "           - /other: it is defined for NATS and came over KAFKA",
        "             Send it over NATS, or define the message for KAFKA.",
    ]


def test_one_remedy_for_several_reasons_is_given_once() -> None:
    several = tuple(Reason(xid, "", "fits_as_well", "one definition", "2 definitions") for xid in ("/a", "/b"))
    told = explain_match(Match("ambiguous", reasons=several)).splitlines()
    assert [line.strip()[:5] for line in told] == ["ambig", "- /a:", "- /b:", "Make "]


REASON = re.compile(r'(?:Reason|_reason|Malformed|Violation)\((?:[^()"]*"[^"]*",\s*)*?"([a-z]+_[a-z_]+)"')


def test_every_reason_code_of_ours_has_a_sentence() -> None:
    used = {code for path in SOURCES.rglob("*.py") for code in REASON.findall(path.read_text())}
    assert {"constant_mismatch", "empty_batch", "fits_as_well", "column_misfit", "event_broken"} <= used
    # Rules of payload schemas, of which there are many, share one sentence.
    assert {code for code in used if not code.startswith("payload_")} - set(SENTENCES) == set()


def test_rules_of_the_schema_share_one_sentence() -> None:
    reason = Reason("", "/data/x", "payload_enum", 'one of "a", "b"', '"c"')
    assert explain_reason(reason) == '/data/x must be one of "a", "b" but is "c"'
