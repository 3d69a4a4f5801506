"""The hook and the action that other repositories use: they name commands, flags and files that exist."""

import re
from pathlib import Path
from typing import Any

import yaml

from postroom.cli.main import all_commands

ROOT = Path(__file__).parent.parent


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def flags_of(command: str) -> set[str]:
    return {flag for parameter in all_commands()[command].params for flag in parameter.opts}


def test_hooks_run_commands_on_catalogs_only() -> None:
    for hook in read(".pre-commit-hooks.yaml"):
        program, command, *flags = hook["entry"].split()
        assert program == "postroom"
        assert set(flags) <= flags_of(command)
        pattern = re.compile(hook["files"])
        for name in ("a.xreg.json", "x/a.xreg.yaml", "a.cereg", "a.cereg.yaml", "a.cereg.yml"):
            assert pattern.search(name), name
        assert not pattern.search("package.json")


def test_the_action_uses_flags_that_exist_and_runs_no_input() -> None:
    action = read("action.yml")
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    used = {name for step in action["runs"]["steps"] for name in re.findall(r"inputs\.([\w-]+)", str(step))}
    assert used == set(action["inputs"])
    for script in scripts:
        assert "${{" not in script
        for command, rest in re.findall(r"postroom (\w+) (.*)", script):
            assert set(re.findall(r"(?<!\S)--\w+", rest)) <= flags_of(command), script
