"""What Spark says when a task fails, as an error of ours."""

from __future__ import annotations

import re
import sys

import postroom.errors
from postroom.errors import FolderUnwritable, LakeRefused, PostroomError, WorkersUnfit

# How the kernel, Arrow and delta-rs say that there is no more room.
_NO_ROOM = re.compile(r"No space left on device|Disk quota exceeded|File too large|os error (?:27|28|122)\b")


# What Spark says when the Python of a worker cannot do its work.
_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
_OTHER_PYTHON = re.compile(r"different version: (\S+?) than that in driver:? (\d+\.\d+)|PYTHON_VERSION_MISMATCH")
_NO_MODULE = re.compile(r"ModuleNotFoundError: (No module named '[^']+')")


def error_from_spark(text: str, place: str = "") -> PostroomError:
    """The error of ours inside what Spark says, or the telling line of what it says."""
    ours = re.search(r"postroom\.errors\.(\w+): (.+)", text)
    if _NO_ROOM.search(text):
        return no_room(place)
    if ours and hasattr(postroom.errors, ours[1]):
        error_class: type[PostroomError] = getattr(postroom.errors, ours[1])
        return error_class(ours[2].strip())
    unfit = _unfit_workers(text)
    if unfit is not None:
        return unfit
    causes = re.findall(r"^\s*(?:Caused by: )?(\w[\w.]*(?:Error|Exception): .+)$", text, re.MULTILINE)
    return LakeRefused(f"Spark could not finish the batch: {causes[-1] if causes else text[:300]}")


def is_no_room(error: Exception) -> bool:
    """Whether an error says that a disk is full."""
    return _NO_ROOM.search(str(error)) is not None


def no_room(place: str) -> FolderUnwritable:
    """A full disk."""
    return FolderUnwritable(
        "there is no room left; what is not in the ledger was not sorted.",
        place=place,
        remedy="Make room and run it again.",
    )


def _unfit_workers(text: str) -> WorkersUnfit | None:
    """What is wrong with the Python of a worker, if that is what Spark says."""
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if program := _NO_PYTHON.search(text):
        return WorkersUnfit(
            f"a worker has no Python called {program[1]}.",
            remedy=f"Install Python {here} on all workers, or name theirs in the setting worker_python.",
        )
    if _OTHER_PYTHON.search(text):
        return WorkersUnfit(
            f"the workers' Python has another version than the driver's, {here}.",
            remedy=f"Name a Python {here} of theirs in the setting worker_python, or run Postroom with their version.",
        )
    if module := _NO_MODULE.search(text):
        return WorkersUnfit(
            f"a worker cannot load Postroom: {module[1]}.",
            remedy="Leave the setting engine empty, so that it is sent, or install postroom[spark] on every worker.",
        )
    return None
