"""Schema of the PostgreSQL store as migrations from version 1 on. A released migration never changes.

Texts are compared byte by byte (`COLLATE "C"`), as ranges of xids and ids need it.
"""

from __future__ import annotations

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE state (
        schema  INTEGER NOT NULL,
        version BIGINT NOT NULL
    );
    INSERT INTO state VALUES (0, 0);
    CREATE TABLE entity (
        xid        TEXT COLLATE "C" PRIMARY KEY,
        collection TEXT COLLATE "C" NOT NULL,
        folded     TEXT COLLATE "C" NOT NULL,
        epoch      BIGINT NOT NULL,
        createdat  TEXT NOT NULL,
        modifiedat TEXT NOT NULL,
        attributes BYTEA NOT NULL,
        content    BYTEA,
        url        TEXT,
        text       INTEGER NOT NULL DEFAULT 0,
        counter    BIGINT NOT NULL DEFAULT 0,
        xref       TEXT COLLATE "C"
    );
    CREATE UNIQUE INDEX entity_by_collection ON entity (collection, folded);
    CREATE INDEX entity_by_xref ON entity (xref) WHERE xref IS NOT NULL;
    CREATE TABLE change (
        sequence    BIGINT PRIMARY KEY,
        xid         TEXT COLLATE "C" NOT NULL,
        action      TEXT NOT NULL,
        epoch       BIGINT NOT NULL,
        changed     BYTEA NOT NULL,
        actor       TEXT NOT NULL,
        correlation TEXT NOT NULL,
        time        TEXT NOT NULL
    );
    CREATE INDEX change_by_xid ON change (xid, sequence);
    CREATE TABLE history (
        xid        TEXT COLLATE "C" NOT NULL,
        sequence   BIGINT NOT NULL,
        epoch      BIGINT NOT NULL,
        createdat  TEXT NOT NULL,
        modifiedat TEXT NOT NULL,
        attributes BYTEA NOT NULL,
        content    BYTEA,
        url        TEXT,
        text       INTEGER NOT NULL DEFAULT 0,
        counter    BIGINT NOT NULL DEFAULT 0,
        PRIMARY KEY (xid, sequence)
    );
    CREATE TABLE configuration (
        name  TEXT PRIMARY KEY,
        value BYTEA NOT NULL
    );
    CREATE TABLE record (
        kind TEXT COLLATE "C" NOT NULL,
        id   TEXT COLLATE "C" NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (kind, id)
    )
    """,
    """
    ALTER TABLE configuration ALTER COLUMN name TYPE TEXT COLLATE "C"
    """,
)

LATEST = len(MIGRATIONS)
