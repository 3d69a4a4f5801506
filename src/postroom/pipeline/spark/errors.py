"""What Spark says when a task fails, as an error of ours."""

from __future__ import annotations

import re

import postroom.errors
from postroom.errors import FolderUnwritable, LakeRefused, PostroomError

# How the kernel, Arrow and delta-rs say that there is no more room.
_NO_ROOM = re.compile(r"No space left on device|Disk quota exceeded|File too large|os error (?:27|28|122)\b")


def error_from_spark(text: str, place: str = "") -> PostroomError:
    """The error of ours inside what Spark says, or the telling line of what it says."""
    if _NO_ROOM.search(text):
        return FolderUnwritable(
            "there is no room left; what is not in the ledger was not sorted.",
            place=place,
            remedy="Make room and run it again.",
        )
    ours = re.search(r"postroom\.errors\.(\w+): (.+)", text)
    if ours and hasattr(postroom.errors, ours[1]):
        error_class: type[PostroomError] = getattr(postroom.errors, ours[1])
        return error_class(ours[2].strip())
    causes = re.findall(r"^\s*(?:Caused by: )?(\w[\w.]*(?:Error|Exception): .+)$", text, re.MULTILINE)
    return LakeRefused(f"Spark could not finish the batch: {causes[-1] if causes else text[:300]}")
