"""Files as an endpoint of a link: read into a registry for the time of the link, and written back when that changed.

A file holds the whole catalog. A folder, be it one in Git, holds a file for each Group, so that a change of one
definition is a change of one file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from postroom.catalog.export import export_source
from postroom.catalog.open_store import open_store
from postroom.catalog.sources import read_files
from postroom.catalog.targets import write_target
from postroom.documents.dialects.name_tables import GROUP_TYPES
from postroom.documents.dialects.walk_tree import group_types
from postroom.documents.read_files import YAML_SUFFIXES, document_files
from postroom.errors import DocumentRefused, FileMissing, FolderUnwritable
from postroom.replication.replicas.apply_units import STATES, BatchResult, ReplicaBatch
from postroom.replication.replicas.digests import DigestIndex
from postroom.replication.replicas.origins import all_origins, put_origin
from postroom.replication.replicas.peers.state_file import StateFile, write_whole
from postroom.replication.replicas.peers.store import StoreEndpoint
from postroom.settings import Settings

STATE_SUFFIX = ".postroom-links"
DOCUMENT_SUFFIXES = (".json", ".yaml", ".yml", ".cereg")


class FilesSource(StoreEndpoint):
    """A catalog in files that is only read."""

    def __init__(self, path: Path, settings: Settings, authority: str = "") -> None:
        self.path = path
        self.settings = settings
        self._folder = tempfile.TemporaryDirectory(prefix="postroom-")
        self.url = f"sqlite:///{self._folder.name}/registry.db"
        self.is_folder = path.is_dir() or path.suffix not in DOCUMENT_SUFFIXES
        self.state_file = StateFile(
            path / STATE_SUFFIX if self.is_folder else path.with_name(f".{path.name}{STATE_SUFFIX}")
        )
        home = f"file:{path.resolve().name}"
        try:
            self._load()
            super().__init__(open_store(self.url), str(path), authority or home, authority or home)
            self._index = DigestIndex(history=False)  # a file has the present state of everything only
            self._restore_state()
        except BaseException:
            self._folder.cleanup()
            raise

    def close(self) -> None:
        """Remove the registry; the files stay."""
        super().close()
        self._folder.cleanup()

    def _load(self) -> None:
        write_target(read_files(self.path, self.settings), self.url, self.settings)

    def _restore_state(self) -> None:
        with self.store.write() as tx:
            for xid, origin in self.state_file.origins.items():
                put_origin(tx, xid, origin)
            for link, state in self.state_file.states.items():
                tx.put_record(STATES, link, bytes(state))


class FilesTarget(FilesSource):
    """A catalog in files that is written when something came."""

    def apply(self, batch: ReplicaBatch) -> BatchResult:
        """Take a batch in, and write the files: the state file first, for it may be ahead of them, but not behind."""
        outcome = super().apply(batch)
        if not (batch.state or batch.claims or outcome.taken or outcome.deleted):
            return outcome
        with self.store.read() as tx:
            self.state_file.origins.update(all_origins(tx))
            self.state_file.states.update({link: msgspec.Raw(body) for link, body in tx.records(STATES)})
        self.state_file.save()
        if outcome.taken or outcome.deleted:
            self._write()
        return outcome

    def _load(self) -> None:
        if not self.path.exists() or (self.is_folder and not any(self._documents())):
            return
        if self.is_folder:
            self._refuse_others()
        super()._load()

    def _documents(self) -> Iterator[Path]:
        try:
            yield from document_files(self.path)
        except FileMissing:
            return

    def _refuse_others(self) -> None:
        for file in self._documents():
            place = file.relative_to(self.path)
            if len(place.parts) != 2 or place.suffix != ".json":
                raise DocumentRefused(
                    f"{place} was not written by a link, and a link would write the same groups to other files.",
                    place=str(self.path),
                    remedy="Give a folder of its own, or one file.",
                )

    def _write(self) -> None:
        document = export_source(self.url, self.settings)
        try:
            if self.is_folder:
                self._write_folder(document)
            else:
                self._write_file(self.path, document)
        except OSError as error:
            raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(self.path)) from None

    def _write_folder(self, document: dict[str, Any]) -> None:
        wanted = {}
        for kind in group_types(document):
            model = {} if kind in GROUP_TYPES else {"modelsource": document.get("modelsource")}
            for name, group in (document.get(kind) or {}).items():
                head = {"specversion": document["specversion"]} if "specversion" in document else {}
                wanted[self.path / kind / f"{quote(name, safe='@')}.json"] = {**head, **model, kind: {name: group}}
        for file in set(self._documents()) - wanted.keys():
            file.unlink()
        for file, part in wanted.items():
            self._write_file(file, part)

    def _write_file(self, path: Path, document: dict[str, Any]) -> None:
        content = _text(document, path.suffix).encode()
        if path.exists() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def _text(document: Any, suffix: str) -> str:
    if suffix in YAML_SUFFIXES:
        import yaml

        return yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=120)
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
