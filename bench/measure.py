"""Measuring CPU time and printing ratios."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ratio:
    """How much more one thing costs than another, and what we aim for."""

    name: str
    value: float
    goal: float | None = None

    def __str__(self) -> str:
        aim = "" if self.goal is None else f"   goal {self.goal:g}   {'met' if self.value <= self.goal else 'MISSED'}"
        return f"  {self.name:<68} {self.value:8.2f} ×{aim}"


@dataclass(frozen=True)
class Share:
    """How much of what the least application does in a second is done, and what we aim for."""

    name: str
    rate: float
    least_rate: float
    value: float
    goal: float | None = None

    def __str__(self) -> str:
        aim = "" if self.goal is None else f"   goal ≥ {self.goal:g}   {'met' if self.value >= self.goal else 'MISSED'}"
        return f"  {self.name:<68} {self.value:8.2f}   {self.rate:7,.0f}/s of {self.least_rate:7,.0f}/s{aim}"


def cpu_of(work: Callable[[], object]) -> float:
    """CPU seconds of one call in this process."""
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


def cpu_of_each(work: Callable[[Any], object], items: Iterable[Any]) -> float:
    """CPU seconds of a call per item. Results are dropped at once: keeping them would charge one side with memory."""
    return cpu_of(lambda: deque(map(work, items), maxlen=0))


def cpu_of_command(command: Sequence[str]) -> float:
    """CPU seconds of a process and its children."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def ratio(
    name: str, subject: Callable[[], float], yardstick: Callable[[], float], goal: float | None, rounds: int
) -> Ratio:
    """The median of ratios taken in turns, so that a noisy moment hits both sides."""
    subject(), yardstick()
    return Ratio(name, statistics.median(subject() / yardstick() for _ in range(rounds)), goal)


def share(
    name: str, subject: Callable[[], float], yardstick: Callable[[], float], goal: float | None, rounds: int
) -> Share:
    """The median of shares of rates taken in turns, and the median rates."""
    subject(), yardstick()
    found = [(subject(), yardstick()) for _ in range(rounds)]
    value = statistics.median(ours / least for ours, least in found)
    rates = [statistics.median(side) for side in zip(*found, strict=True)]
    return Share(name, rates[0], rates[1], value, goal)
