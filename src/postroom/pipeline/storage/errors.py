"""What an object store, or delta-rs for it, says when something is wrong, as errors of ours without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from postroom.errors import FileMissing, PostroomError, ServiceRefused, ServiceUnreachable

# How the stores name the reason in their answers, and obstore the status.
_CODE = re.compile(r"<Code>(\w+)</Code>|\"(?:code|reason)\": ?\"(\w+)\"")
_STATUS = re.compile(
    r"non-2xx status code: (\d{3})|server error: [^0-9]{0,40}(\d{3})|\b(\d{3}) [A-Z][a-z]+ ?[A-Z]?[a-z]*"
)
# Signatures and tokens stand in the query of an address.
_QUERY = re.compile(r"\?[^\s)\]>\"',]+")
_MARKS = re.compile(r"\x1b\[[0-9;]*m")

_MISSING = {
    "NoSuchBucket": "there is no such bucket.",
    "ContainerNotFound": "there is no such container.",
    "notFound": "there is no such bucket.",
}
_TOLD = re.compile(r"Generic (?:S3|GCS|MicrosoftAzure) error|after \d+ retries|non-2xx status code|object store")


def storage_error(error: Exception, place: str) -> PostroomError | None:
    """The error of ours for one of a store; None where it is about something else."""
    text = _MARKS.sub("", str(error))
    found = _CODE.search(text)
    code = next(filter(None, found.groups()), "") if found else ""
    if code in _MISSING:
        return FileMissing(_MISSING[code], place=place)
    seen = _STATUS.search(text)
    status = next(filter(None, seen.groups()), "") if seen else ""
    answer = " ".join(filter(None, (status, code)))
    name = type(error).__name__
    if name in ("PermissionDeniedError", "UnauthenticatedError") or status in ("401", "403"):
        return ServiceRefused(
            f"the object store refuses this: {answer or 'no access'}.",
            place=place,
            remedy="Check the credentials and what they allow: variables such as AWS_ACCESS_KEY_ID, or --storage.",
        )
    if name == "FileNotFoundError":
        return None
    if not _TOLD.search(text) and not type(error).__module__.startswith("obstore"):
        return None
    why = answer if answer.strip() else _cause(text)
    return ServiceUnreachable(
        f"the object store does not do what it was asked: {why}.",
        place=place,
        remedy="Nothing is lost: run it again when the store works; with a checkpoint it goes on where it was.",
    )


@contextmanager
def telling_errors(place: str, *others: type[Exception]) -> Iterator[None]:
    """Turn what stores say into errors of ours."""
    kinds: tuple[type[Exception], ...] = (OSError, *others)
    try:
        yield
    except kinds as error:
        told = storage_error(error, place)
        if told is None:
            raise
        raise told from None


def without_secrets(text: str) -> str:
    """The first line of what somebody said, without what may be secret in an address."""
    return _QUERY.sub("", _MARKS.sub("", text).strip().partition("\n")[0])


# What went wrong on the way, where there was no answer; the words of libraries for it.
_CAUSES = {
    "Connection refused": "connection refused",
    "timed out": "no answer in time",
    "TimedOut": "no answer in time",
    "dns error": "no such host",
    "onnect": "no connection",
}


def _cause(text: str) -> str:
    """Why there was no answer, or else the first line of what was said."""
    return next((cause for word, cause in _CAUSES.items() if word in text), without_secrets(text).rstrip(".:")[:200])
