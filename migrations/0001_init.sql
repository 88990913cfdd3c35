-- Configuration: one row per aggregate. `document` is the aggregate as JSON; the other columns are what uniqueness,
-- ownership, sorting and foreign keys need. `revision` is the revision of the change that wrote the row.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT;
INSERT INTO meta (key, value) VALUES ('revision', '0');

CREATE TABLE tenants (
    id         TEXT PRIMARY KEY NOT NULL,
    name       TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;
INSERT INTO tenants (id, name, created_at) VALUES ('00000000-0000-0000-0000-000000000001', 'default', 0);

CREATE TABLE zones (
    id         TEXT PRIMARY KEY NOT NULL,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL UNIQUE,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
CREATE INDEX zones_by_tenant ON zones (tenant_id, name);

CREATE TABLE pools (
    id         TEXT PRIMARY KEY NOT NULL,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document)),
    UNIQUE (tenant_id, name)
) STRICT;

-- Which pool a member belongs to: members are part of the pool's document, and are addressed on their own.
CREATE TABLE members (
    id      TEXT PRIMARY KEY NOT NULL,
    pool_id TEXT NOT NULL REFERENCES pools (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_pool ON members (pool_id);

CREATE TABLE services (
    id         TEXT PRIMARY KEY NOT NULL,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL,
    domain     TEXT NOT NULL,
    pool_id    TEXT NOT NULL REFERENCES pools (id),
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document)),
    UNIQUE (tenant_id, name)
) STRICT;
CREATE INDEX services_by_domain ON services (tenant_id, domain);
CREATE INDEX services_by_pool ON services (pool_id);

-- Who holds a domain: unique over all tenants.
CREATE TABLE claims (
    domain     TEXT PRIMARY KEY NOT NULL,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    service_id TEXT NOT NULL UNIQUE REFERENCES services (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    id         TEXT PRIMARY KEY NOT NULL,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL UNIQUE,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document))
) STRICT;

CREATE TABLE tokens (
    id         TEXT PRIMARY KEY NOT NULL,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL,
    hash       TEXT NOT NULL UNIQUE,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document)),
    UNIQUE (tenant_id, name)
) STRICT;

-- At most one row: the licence that was stored over the API.
CREATE TABLE license (
    id         TEXT PRIMARY KEY NOT NULL,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document))
) STRICT;

CREATE TABLE audit (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    revision    INTEGER NOT NULL,
    time        INTEGER NOT NULL,
    tenant_id   TEXT NOT NULL,
    actor       TEXT NOT NULL CHECK (json_valid(actor)),
    actor_name  TEXT NOT NULL,
    source      TEXT,
    action      TEXT NOT NULL,
    object_kind TEXT NOT NULL,
    object_id   TEXT NOT NULL,
    object_name TEXT NOT NULL,
    before      TEXT CHECK (before IS NULL OR json_valid(before)),
    after       TEXT CHECK (after IS NULL OR json_valid(after))
) STRICT;
CREATE INDEX audit_by_tenant ON audit (tenant_id, id);
CREATE INDEX audit_by_object ON audit (object_id, id);

-- Local to this node: never part of a change, never replicated.
CREATE TABLE sessions (
    id     TEXT PRIMARY KEY NOT NULL,
    data   BLOB NOT NULL,
    expiry INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_expiry ON sessions (expiry);

CREATE TABLE token_uses (
    token_id TEXT PRIMARY KEY NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
    time     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE logins (
    user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    time    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    id        INTEGER PRIMARY KEY,
    time      INTEGER NOT NULL,
    tenant_id TEXT NOT NULL,
    pool_id   TEXT,
    document  TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
CREATE INDEX events_by_pool ON events (pool_id, id);
