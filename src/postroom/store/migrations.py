"""Schema of the SQLite store as migrations from version 1 on. A released migration never changes."""

from __future__ import annotations

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE entity (
        xid        TEXT PRIMARY KEY,
        collection TEXT NOT NULL,
        folded     TEXT NOT NULL,
        epoch      INTEGER NOT NULL,
        createdat  TEXT NOT NULL,
        modifiedat TEXT NOT NULL,
        attributes BLOB NOT NULL,
        content    BLOB,
        url        TEXT,
        text       INTEGER NOT NULL DEFAULT 0,
        counter    INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX entity_by_collection ON entity (collection, folded);
    CREATE TABLE change (
        sequence    INTEGER PRIMARY KEY AUTOINCREMENT,
        xid         TEXT NOT NULL,
        action      TEXT NOT NULL,
        epoch       INTEGER NOT NULL,
        changed     BLOB NOT NULL,
        actor       TEXT NOT NULL,
        correlation TEXT NOT NULL,
        time        TEXT NOT NULL
    );
    CREATE TABLE history (
        xid        TEXT NOT NULL,
        sequence   INTEGER NOT NULL,
        epoch      INTEGER NOT NULL,
        createdat  TEXT NOT NULL,
        modifiedat TEXT NOT NULL,
        attributes BLOB NOT NULL,
        content    BLOB,
        url        TEXT,
        text       INTEGER NOT NULL DEFAULT 0,
        counter    INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (xid, sequence)
    ) WITHOUT ROWID;
    CREATE TABLE configuration (
        name  TEXT PRIMARY KEY,
        value BLOB NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE entity ADD COLUMN xref TEXT;
    UPDATE entity SET xref = json_extract(CAST(attributes AS TEXT), '$.xref') WHERE xid LIKE '/%/%/%/%'
        AND xid NOT LIKE '/%/%/%/%/%';
    CREATE INDEX entity_by_xref ON entity (xref) WHERE xref IS NOT NULL
    """,
    """
    CREATE TABLE record (
        kind TEXT NOT NULL,
        id   TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (kind, id)
    ) WITHOUT ROWID;
    CREATE INDEX change_by_xid ON change (xid, sequence)
    """,
    """
    CREATE TABLE search_entry (
        id          INTEGER PRIMARY KEY,
        xid         TEXT NOT NULL,
        kind        TEXT NOT NULL,
        grp         TEXT NOT NULL,
        format      TEXT NOT NULL,
        envelope    TEXT NOT NULL,
        protocol    TEXT NOT NULL,
        schema      TEXT NOT NULL,
        base        TEXT NOT NULL,
        title       TEXT NOT NULL,
        words       TEXT NOT NULL,
        description TEXT NOT NULL,
        fields      TEXT NOT NULL,
        state       INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX search_entry_by_xid ON search_entry (xid) WHERE state < 2;
    CREATE INDEX search_entry_by_state ON search_entry (state) WHERE state > 0;
    CREATE INDEX search_entry_by_schema ON search_entry (schema, xid) WHERE schema <> '';
    CREATE VIRTUAL TABLE search_text USING fts5 (
        title, words, description, fields, content = 'search_entry', content_rowid = 'id', columnsize = 0,
        tokenize = 'ascii'
    );
    CREATE TABLE search_property (
        id    INTEGER PRIMARY KEY,
        path  TEXT NOT NULL UNIQUE,
        words TEXT NOT NULL
    );
    CREATE TABLE search_use (
        property INTEGER NOT NULL,
        entry    INTEGER NOT NULL,
        type     TEXT NOT NULL,
        PRIMARY KEY (property, entry)
    ) WITHOUT ROWID;
    CREATE INDEX search_use_by_entry ON search_use (entry)
    """,
)

LATEST = len(MIGRATIONS)
