"""docs/conformance.md says what the tests say, and the script that writes it finds every marker."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.sessions import ROOT

SCRIPT = ROOT / "scripts" / "conformance.py"


@pytest.fixture(scope="module")
def conformance() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["conformance"] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current() -> None:
    ended = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_markers_are_found_wherever_pytest_finds_them(conformance: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "test_ovens.py").write_text(
        """
import pytest
pytestmark = pytest.mark.feature("REG-001")
TABLE = [pytest.param(1, marks=pytest.mark.feature("REG-002")), 2]

@pytest.mark.feature("REG-003")
class TestOven:
    @pytest.mark.feature("REG-004", "REG-005")
    def test_heat(self): ...

@pytest.mark.parametrize("n", TABLE)
def test_table(n): ...

async def test_plain(): ...

@pytest.mark.feature("REG-006")
def helper(): ...
"""
    )
    assert conformance.read_markers(tmp_path) == {
        "REG-001": ["test_ovens::test_heat", "test_ovens::test_table", "test_ovens::test_plain"],
        "REG-002": ["test_ovens::test_table"],
        "REG-003": ["test_ovens::test_heat"],
        "REG-004": ["test_ovens::test_heat"],
        "REG-005": ["test_ovens::test_heat"],
    }


@pytest.mark.parametrize(
    ("marker", "words"),
    [('"REG-092"', "no requirement REG-092"), ('"OVEN-001"', "no requirement"), ("*IDS", "plain strings")],
)
def test_a_misspelt_marker_is_refused(conformance: ModuleType, tmp_path: Path, marker: str, words: str) -> None:
    (tmp_path / "test_ovens.py").write_text(f"@pytest.mark.feature({marker})\ndef test_heat(): ...\n")
    groups, sizes = conformance.read_requirements(conformance.REQUIREMENTS.read_text())
    with pytest.raises(conformance.Misspelt, match=words):
        conformance.check_ids(conformance.read_markers(tmp_path), groups, sizes)


def test_a_requirement_without_a_test_is_listed_as_open(conformance: ModuleType) -> None:
    groups, _ = conformance.read_requirements("@ REG 2\n# REG Ovens\nREG-001 MUST heat\nREG-002 MAY light\n")
    page = conformance.page(groups, {"REG-001": ["test_ovens::test_heat"]}, {}, {}, {})
    assert "| [REG](#reg-ovens) | 2 | 1 | none |" in page
    assert "| REG-002 | MAY | light |\n" in page
    assert "| REG-001 | MUST | heat | `test_ovens::test_heat` |" in page


def test_an_audit_entry_is_fixed_by_a_test_or_argued(conformance: ModuleType) -> None:
    entries = {
        "ovens-1": {"about": "heat"},
        "ovens-2": {"about": "light", "argued": '"MAY glow"'},
        "ovens-3": {"about": "smell"},
    }
    shown = {"ovens-1": ["test_ovens::test_heat"]}
    page = conformance.page([], {}, {}, entries, shown)
    assert "| ovens-1 | heat | `test_ovens::test_heat` |" in page
    assert '| ovens-2 | light | "MAY glow" |' in page
    assert "| ovens-3 | smell | open |" in page
    assert conformance.open_entries(entries, shown) == ["ovens-3"]


def test_a_marker_of_no_audit_entry_is_refused(conformance: ModuleType) -> None:
    with pytest.raises(conformance.Misspelt, match="no audit entry ovens-4"):
        conformance.check_entries({"ovens-4": ["test_ovens::test_heat"]}, {"ovens-1": {"about": "heat"}})
