//! The forms of zones.

use crate::components::chain::step_list;
use crate::form::{Form, given, whole_number};
use gslb_api_types::model::{TenantId, ValidationError, ZoneDraft, ZoneId};
use serde::{Deserialize, Serialize};

/// A new zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ZoneForm {
    /// The apex.
    pub name: String,
    /// Primary name server.
    pub mname: String,
    /// Responsible mailbox.
    pub rname: String,
    /// Name servers, separated by commas.
    pub name_servers: String,
    /// Seconds.
    pub minimum: String,
}

impl ZoneForm {
    /// The draft, and what is no number.
    #[must_use]
    pub fn draft(&self) -> (ZoneDraft, Vec<ValidationError>) {
        let mut problems = Vec::new();
        let servers = step_list(&self.name_servers);
        let draft = ZoneDraft {
            name: given(&self.name),
            mname: given(&self.mname),
            rname: given(&self.rname),
            minimum: whole_number(&mut problems, "minimum", &self.minimum),
            name_servers: (!servers.is_empty()).then_some(servers),
            ..ZoneDraft::default()
        };
        (draft, problems)
    }
}

impl Form for ZoneForm {
    const PARAM: &'static str = "zone";

    fn problems(&self) -> Vec<ValidationError> {
        let (draft, mut problems) = self.draft();
        // Only the problems are wanted: any id will do.
        if let Err(list) = draft.validate(ZoneId(TenantId::DEFAULT.0), TenantId::DEFAULT, 1) {
            problems.extend(list.into_iter().map(|mut problem| {
                if problem.field.starts_with("nameServers[") {
                    problem.field = "nameServers".to_owned();
                }
                problem
            }));
        }
        problems
    }
}

/// Which zone to delete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ZoneTarget {
    /// The zone.
    pub zone: String,
}

impl Form for ZoneTarget {
    const PARAM: &'static str = "delete";

    fn problems(&self) -> Vec<ValidationError> {
        Vec::new()
    }
}
