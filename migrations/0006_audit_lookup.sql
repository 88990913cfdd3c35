-- Everything that the audit trail is searched by, beside the documents, which are long: a search reads this index alone, and
-- in the order of the trail. It has what the index of tenants had.
CREATE INDEX audit_lookup ON audit (tenant_id, id, time, actor_name, action, object_kind, object_name, object_id);
DROP INDEX audit_by_tenant;
