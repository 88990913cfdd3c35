//! The forms of pools and members.

use crate::form::{Form, given, ticked, whole_number};
#[cfg(any(feature = "ssr", test))]
use gslb_api_types::ApiError;
#[cfg(any(feature = "ssr", test))]
use gslb_api_types::model::ErrorCode;
use gslb_api_types::model::{
    AdminState, Member, MemberDraft, MemberId, PoolDraft, PoolId, TenantId, ValidationError,
};
use gslb_api_types::{PoolView, Stored};
use serde::{Deserialize, Serialize};

/// Name and gate of a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoolForm {
    /// Empty for a new pool.
    pub id: String,
    /// The revision that the form was made from.
    pub revision: String,
    /// Name.
    pub name: String,
    /// Number.
    pub min_healthy: String,
}

impl PoolForm {
    /// The form of a stored pool.
    #[must_use]
    pub fn of(pool: &Stored<PoolView>) -> Self {
        Self {
            id: pool.value.id.to_string(),
            revision: pool.revision.to_string(),
            name: pool.value.name.clone(),
            min_healthy: pool.value.min_healthy.to_string(),
        }
    }

    /// The draft, and what is no number.
    #[must_use]
    pub fn draft(&self) -> (PoolDraft, Vec<ValidationError>) {
        let mut problems = Vec::new();
        let draft = PoolDraft {
            name: given(&self.name),
            min_healthy: whole_number(&mut problems, "minHealthy", &self.min_healthy),
            ..PoolDraft::default()
        };
        (draft, problems)
    }
}

/// Stands in where only the problems of a draft are wanted.
const ANY: MemberId = MemberId(TenantId::DEFAULT.0);

impl Form for PoolForm {
    const PARAM: &'static str = "pool";

    fn problems(&self) -> Vec<ValidationError> {
        let (draft, mut problems) = self.draft();
        if let Err(list) = draft.validate(PoolId(ANY.0), TenantId::DEFAULT, || ANY) {
            problems.extend(list);
        }
        problems
    }
}

/// A member.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberForm {
    /// The pool.
    pub pool: String,
    /// The revision of the pool that the form was made from.
    pub revision: String,
    /// Empty for a new member.
    pub member: String,
    /// Address.
    pub ip_address: String,
    /// Number.
    pub port: String,
    /// Number.
    pub weight: String,
    /// Number.
    pub priority: String,
    /// Region.
    pub region: String,
    /// Signal zone.
    pub zone: String,
    /// Number.
    pub asn: String,
    /// Ticked or empty.
    pub enabled: String,
    /// Kept as it is.
    pub admin_state: String,
}

/// Name of an operator's decision, as the API has it.
#[must_use]
pub fn admin_name(state: AdminState) -> &'static str {
    match state {
        AdminState::Auto => "auto",
        AdminState::Up => "up",
        AdminState::Down => "down",
        AdminState::Drain => "drain",
    }
}

fn admin_state(text: &str) -> Option<AdminState> {
    [
        AdminState::Auto,
        AdminState::Up,
        AdminState::Down,
        AdminState::Drain,
    ]
    .into_iter()
    .find(|state| admin_name(*state) == text)
}

impl MemberForm {
    /// The form of a stored member, or of a new one.
    #[must_use]
    pub fn of(pool: &Stored<PoolView>, member: Option<&Member>) -> Self {
        let base = Self {
            pool: pool.value.id.to_string(),
            revision: pool.revision.to_string(),
            enabled: "on".to_owned(),
            weight: "1".to_owned(),
            ..Self::default()
        };
        let Some(member) = member else { return base };
        let number = |n: u32| if n == 0 { String::new() } else { n.to_string() };
        Self {
            member: member.id.to_string(),
            ip_address: member.endpoint.to_string(),
            port: member.port.to_string(),
            weight: member.weight.to_string(),
            priority: number(member.priority),
            region: if member.region.is_unknown() {
                String::new()
            } else {
                member.region.to_string()
            },
            zone: member.zone.as_ref().map(ToString::to_string).unwrap_or_default(),
            asn: member.asn.map(|asn| asn.to_string()).unwrap_or_default(),
            enabled: if member.enabled { "on" } else { "" }.to_owned(),
            admin_state: admin_name(member.admin_state).to_owned(),
            ..base
        }
    }

    /// The draft, and what is no number.
    #[must_use]
    pub fn draft(&self) -> (MemberDraft, Vec<ValidationError>) {
        let mut problems = Vec::new();
        let mut number = |field: &str, text: &str| whole_number(&mut problems, field, text);
        let draft = MemberDraft {
            id: self.member.parse().ok(),
            ip_address: given(&self.ip_address),
            port: number("port", &self.port),
            weight: number("weight", &self.weight),
            priority: number("priority", &self.priority),
            asn: number("asn", &self.asn),
            region: given(&self.region),
            zone: given(&self.zone),
            enabled: Some(ticked(&self.enabled)),
            admin_state: admin_state(&self.admin_state),
        };
        (draft, problems)
    }
}

impl Form for MemberForm {
    const PARAM: &'static str = "member";

    fn problems(&self) -> Vec<ValidationError> {
        let (draft, mut problems) = self.draft();
        if let Err(list) = draft.validate(ANY) {
            problems.extend(list);
        }
        problems
    }
}

/// A pool, and one of its members, that something is done to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoolTarget {
    /// The pool.
    pub pool: String,
    /// The member.
    pub member: String,
    /// The operator's decision, when that is what changes.
    pub admin_state: String,
}

#[cfg(any(feature = "ssr", test))]
impl PoolTarget {
    /// The operator's decision.
    ///
    /// # Errors
    /// When it is none of the four.
    pub fn state(&self) -> Result<AdminState, ApiError> {
        admin_state(&self.admin_state).ok_or_else(|| {
            crate::form::invalid(vec![ValidationError::new(
                "adminState",
                ErrorCode::Unknown,
                format!("`{}` is not auto, up, down or drain", self.admin_state),
            )])
        })
    }
}

impl Form for PoolTarget {
    const PARAM: &'static str = "action";

    fn problems(&self) -> Vec<ValidationError> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_form_tells_every_problem() {
        let form = MemberForm {
            ip_address: "10.0.0.300".to_owned(),
            port: "http".to_owned(),
            weight: "-1".to_owned(),
            region: "x".repeat(65),
            ..MemberForm::default()
        };
        let problems = form.problems();
        for field in ["ipAddress", "port", "weight", "region"] {
            assert!(problems.iter().any(|p| p.field == field), "{field}: {problems:?}");
        }
    }

    #[test]
    fn decisions_are_read_by_name() {
        let target = |text: &str| PoolTarget {
            admin_state: text.to_owned(),
            ..PoolTarget::default()
        };
        assert_eq!(target("drain").state().ok(), Some(AdminState::Drain));
        assert!(target("sideways").state().is_err());
    }
}
