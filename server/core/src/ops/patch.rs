//! Merge patches (RFC 7396) over drafts.

use crate::draft::{self, Draft, Proposal};
use crate::error::OpError;
use gslb_engine::model::ErrorCode;
use serde::Serialize;
use serde_json::{Map, Value};

/// Applies a merge patch (RFC 7396 §2).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(object) = target.as_object_mut() else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            object.remove(key);
        } else {
            merge(object.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

/// The draft that a patch makes of the stored one, with everything in the patch that does not fit.
pub(super) fn apply<D: Draft + Serialize>(stored: &D, patch: &Value) -> Result<Proposal<D>, OpError> {
    if !patch.is_object() {
        return Err(OpError::invalid(
            "",
            ErrorCode::Invalid,
            "the body must be an object: a merge patch (RFC 7396)",
        ));
    }
    let mut patch = patch.clone();
    let mut problems = Vec::new();
    draft::without_read_only::<D>(&mut patch);
    D::prepare(&mut patch, &mut problems);
    let mut value = serde_json::to_value(stored).map_err(OpError::internal)?;
    merge(&mut value, &patch);
    draft::fit(value, problems).map_err(OpError::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gslb_engine::model::ServiceDraft;
    use serde_json::json;

    /// The examples of RFC 7396 appendix A.
    #[test]
    fn rfc_7396_appendix_a() {
        for (original, patch, result) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"a": "foo"}), json!(null), json!(null)),
            (json!({"a": "foo"}), json!("bar"), json!("bar")),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (
                json!({}),
                json!({"a": {"bb": {"ccc": null}}}),
                json!({"a": {"bb": {}}}),
            ),
        ] {
            let mut target = original.clone();
            merge(&mut target, &patch);
            assert_eq!(target, result, "{original} with {patch}");
        }
    }

    #[test]
    fn every_field_that_does_not_fit_is_named() {
        let patch = json!({"ttl": "soon", "enabled": 1, "nmae": "x", "name": "fits"});
        let Ok(proposal) = apply(&ServiceDraft::default(), &patch) else {
            panic!()
        };
        let mut fields: Vec<_> = proposal.problems.iter().map(|e| e.field.as_str()).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["enabled", "nmae", "ttl"]);
        assert_eq!(proposal.draft.name.as_deref(), Some("fits"));
    }
}
