"""Processes of this machine, as the kernel lists them."""

from __future__ import annotations

from pathlib import Path


def descendants(root: int) -> list[int]:
    """All processes that a process started, and those that these did."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [root]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found.extend(children)
        waiting.extend(children)
    return found


def is_running(pid: int) -> bool:
    """Whether a process is there and not only waits to be asked how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def command_of(pid: int) -> str:
    """The command line of a process; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
