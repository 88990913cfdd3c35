-- Keys of signed zones, a row per zone; `id` is the zone's. Private keys are in the document, which is why this file is
-- readable by its owner alone.
CREATE TABLE dnssec (
    id         TEXT PRIMARY KEY NOT NULL REFERENCES zones (id) ON DELETE CASCADE,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
