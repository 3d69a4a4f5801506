"""What Spark says when a task fails, as an error of ours."""

from __future__ import annotations

import re

import postroom.errors
from postroom.errors import LakeRefused, PostroomError


def told_by_spark(text: str) -> PostroomError:
    """The error of ours inside what Spark says, or the telling line of what it says."""
    ours = re.search(r"postroom\.errors\.(\w+): (.+)", text)
    if ours and hasattr(postroom.errors, ours[1]):
        kind: type[PostroomError] = getattr(postroom.errors, ours[1])
        return kind(ours[2].strip())
    causes = re.findall(r"^\s*(?:Caused by: )?(\w[\w.]*(?:Error|Exception): .+)$", text, re.MULTILINE)
    return LakeRefused(f"Spark could not finish the batch: {causes[-1] if causes else text[:300]}")
