-- Keys that transfers, NOTIFY and queries are signed with (TSIG). A message tells a key by its name, so that names are
-- unique over all tenants. Secrets are in the document.
CREATE TABLE tsig_keys (
    id         TEXT PRIMARY KEY NOT NULL,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    name       TEXT NOT NULL UNIQUE,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
