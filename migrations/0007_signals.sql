-- Local to this node: the signal tables there have been, each when it came into force. `document` is the weight and the
-- values by zone.
CREATE TABLE signal_tables (
    id       INTEGER PRIMARY KEY,
    time     INTEGER NOT NULL,
    document TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
