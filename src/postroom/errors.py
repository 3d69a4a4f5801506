"""Every error a user can meet.

PostroomError
├── UsageError                exit 2: the command line or a setting is wrong
│   ├── UnknownSetting          unknown_setting
│   ├── BadSetting              bad_setting
│   └── BadFlag                 bad_flag
├── InputError                exit 2: a document, record or catalog is wrong
│   ├── FileMissing             file_missing
│   ├── DocumentBroken          document_broken
│   ├── DocumentRefused         document_refused
│   ├── SourceUnknown           source_unknown
│   ├── SourceChanged           source_changed
│   ├── MessageUnknown          message_unknown
│   ├── DefinitionRefused       definition_refused
│   ├── SchemaRefused           schema_refused
│   │   └── ReferenceMissing      reference_missing
│   ├── FormatUnknown           format_unknown
│   ├── RecordRefused           record_refused
│   ├── MakeRefused             make_refused
│   ├── CursorBroken            cursor_broken
│   ├── CursorForeign           cursor_foreign
│   ├── CursorTooOld            cursor_too_old
│   ├── AccessRefused           access_refused
│   ├── StoreOccupied           store_occupied
│   ├── StoreChanged            store_changed
│   ├── BackupBroken            backup_broken
│   └── LakeRefused             lake_refused
└── MissingSystem             exit 3: something the command needs is not there
    ├── ExtraMissing            extra_missing
    ├── JavaMissing             java_missing
    ├── JavaTooOld              java_too_old
    ├── WorkersUnfit            workers_unfit
    ├── PortBusy                port_busy
    ├── FolderUnwritable        folder_unwritable
    ├── StoreUnusable           store_unusable
    ├── ServiceUnreachable      service_unreachable
    └── ServiceRefused          service_refused

What a registry answers over HTTP is described by its own table of problem types (`registry/problems.py`).
"""

from __future__ import annotations


class PostroomError(Exception):
    """An error with a stable code, a sentence, what it concerns (`place`: a file, pointer or URL) and a remedy."""

    code = "error"
    exit_code = 2

    def __init__(self, sentence: str, *, place: str = "", remedy: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.place = place
        self.remedy = remedy

    def __str__(self) -> str:
        located = f"{self.place}: {self.sentence}" if self.place else self.sentence
        return f"{located} {self.remedy}" if self.remedy else located

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders on Spark; the default would lose the keyword arguments.
        return (_rebuild, (type(self), self.sentence, self.place, self.remedy))


def _rebuild(kind: type[PostroomError], sentence: str, place: str, remedy: str) -> PostroomError:
    error = kind.__new__(kind)
    PostroomError.__init__(error, sentence, place=place, remedy=remedy)
    return error


class UsageError(PostroomError):
    """The command line or a setting is wrong."""


class UnknownSetting(UsageError):
    """A setting nobody knows: a misspelt key of `postroom.toml` or a `POSTROOM_*` variable."""

    code = "unknown_setting"


class BadSetting(UsageError):
    """A setting whose value has the wrong type or is out of range."""

    code = "bad_setting"


class BadFlag(UsageError):
    """A command line that does not parse, or flags that do not go together."""

    code = "bad_flag"


class InputError(PostroomError):
    """A document, record or catalog is wrong."""


class FileMissing(InputError):
    """A file or folder that was named is not there."""

    code = "file_missing"


class DocumentBroken(InputError):
    """A document that is not well-formed JSON or YAML; the place has line and column."""

    code = "document_broken"


class DocumentRefused(InputError):
    """A well-formed document that is not a catalog, or holds something the model does not allow."""

    code = "document_refused"


class SourceUnknown(InputError):
    """A catalog source, stream source or target of a kind we do not know."""

    code = "source_unknown"


class SourceChanged(InputError):
    """Another registry than before at the other end of a link: what came from the first one must not go by mistake."""

    code = "source_changed"


class MessageUnknown(InputError):
    """A message definition that the catalog does not have."""

    code = "message_unknown"


class DefinitionRefused(InputError):
    """A message definition that cannot be used: a cycle of base messages, an illegal template, …"""

    code = "definition_refused"


class SchemaRefused(InputError):
    """A payload schema that its own format does not allow."""

    code = "schema_refused"


class ReferenceMissing(SchemaRefused):
    """A payload schema that refers to another one which cannot be had."""

    code = "reference_missing"


class FormatUnknown(InputError):
    """A payload schema format that this version does not read."""

    code = "format_unknown"


class RecordRefused(InputError):
    """A line that is not a record."""

    code = "record_refused"


class MakeRefused(InputError):
    """A message that cannot be made: variables missing, data that does not fit the schema."""

    code = "make_refused"


class CursorBroken(InputError):
    """A place in the change log that is no place in any change log."""

    code = "cursor_broken"


class CursorForeign(InputError):
    """A place in the change log of another registry, or of this one before it was restored from a backup."""

    code = "cursor_foreign"


class CursorTooOld(InputError):
    """A place in the change log whose successors are no longer kept: what happened since then is not known."""

    code = "cursor_too_old"


class AccessRefused(InputError):
    """A grant, a key or a file of grants that means nothing."""

    code = "access_refused"


class StoreOccupied(InputError):
    """A database that has a registry, or a file that is there, where a copy is to be made."""

    code = "store_occupied"


class StoreChanged(InputError):
    """A registry that was written to while it was moved: what was written would have been lost."""

    code = "store_changed"


class BackupBroken(InputError):
    """A file that is no backup, or is not as it was when it was made."""

    code = "backup_broken"


class LakeRefused(InputError):
    """A folder that is no lake, or a lake that cannot take what was asked."""

    code = "lake_refused"


class MissingSystem(PostroomError):
    """Something the command needs is not there."""

    exit_code = 3


class ExtraMissing(MissingSystem):
    """An optional part of Postroom is not installed."""

    code = "extra_missing"


class JavaMissing(MissingSystem):
    """Spark needs Java and none was found."""

    code = "java_missing"


class JavaTooOld(MissingSystem):
    """The Java that was found is older than Spark needs."""

    code = "java_too_old"


class WorkersUnfit(MissingSystem):
    """Workers of a Spark cluster that do not come, have no Python that fits, or another Postroom."""

    code = "workers_unfit"


class PortBusy(MissingSystem):
    """Another process listens on the port."""

    code = "port_busy"


class FolderUnwritable(MissingSystem):
    """A folder that cannot be written to."""

    code = "folder_unwritable"


class StoreUnusable(MissingSystem):
    """A database that cannot be opened, or was written by a newer Postroom."""

    code = "store_unusable"


class ServiceUnreachable(MissingSystem):
    """A registry service that does not answer."""

    code = "service_unreachable"


class ServiceRefused(MissingSystem):
    """A registry service that answers with an error."""

    code = "service_refused"
