-- Static records of zones, a row per set (all records of one type at one name). `sort_name` has the labels of the name
-- from the root down, each with a dot behind it: what lies below a name is a range of it.
CREATE TABLE records (
    id         TEXT PRIMARY KEY NOT NULL,
    tenant_id  TEXT NOT NULL REFERENCES tenants (id),
    zone_id    TEXT NOT NULL REFERENCES zones (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    sort_name  TEXT NOT NULL,
    type       TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    document   TEXT NOT NULL CHECK (json_valid(document)),
    UNIQUE (zone_id, name, type)
) STRICT;
CREATE INDEX records_by_zone ON records (zone_id, sort_name, type);
