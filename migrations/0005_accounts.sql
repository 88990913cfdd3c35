-- Tenants are aggregates like all others, and each owns itself: what happens to a tenant stands in its own audit trail.
ALTER TABLE tenants ADD COLUMN tenant_id TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tenants ADD COLUMN document TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(document));
UPDATE tenants SET tenant_id = id, document = json_object('id', id, 'name', name);

-- Roles of a tenant's own, beside those that are built in.
CREATE TABLE roles (
    id         TEXT PRIMARY KEY NOT NULL,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document)),
    UNIQUE (tenant_id, name)
) STRICT;

-- The own role of an account; null with a built-in one.
ALTER TABLE users ADD COLUMN role_id TEXT REFERENCES roles (id);
CREATE INDEX users_by_role ON users (role_id);

-- Local to this node: whose a session is, and where from. Sessions of before say neither, and end.
DELETE FROM sessions;
ALTER TABLE sessions ADD COLUMN user_id TEXT REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE sessions ADD COLUMN address TEXT;
ALTER TABLE sessions ADD COLUMN agent TEXT;
ALTER TABLE sessions ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN seen_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_by_user ON sessions (user_id);
