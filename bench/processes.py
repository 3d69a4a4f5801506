"""CPU time of this process and everything it started: Spark's Java and its Python workers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def cpu_of_tree(work: Callable[[], object]) -> float:
    """CPU seconds of one call in this process and all that descend from it."""
    began = _cpu_now()
    work()
    return _cpu_now() - began


def seconds_of(work: Callable[[], object]) -> float:
    """Seconds by the clock."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def peak_memory_mb() -> float:
    """The most memory that any Python process below this one has held so far."""
    peaks = [_peak_mb(process) for process in _tree() if process != os.getpid() and _name(process).startswith("python")]
    return max(peaks, default=0.0)


def _cpu_now() -> float:
    # Own and children's time: what a worker used counts on after it has ended, at its parent.
    return sum(sum(map(int, _fields(process)[11:15])) for process in _tree()) / _TICK


def _tree() -> list[int]:
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))):
            below.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [os.getpid()]
    for process in found:
        found.extend(below.get(process, ()))
    return found


def _fields(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["0"] * 20


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text()
    except OSError:
        return ""


def _peak_mb(process: int) -> float:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)
