//! The form of a service.

#[cfg(any(feature = "ssr", test))]
use crate::components::chain::apply_op;
use crate::components::chain::{merge_arguments, step_list};
use crate::form::{Form, given, ticked, whole_number};
use gslb_api_types::model::{
    ErrorCode, FallbackText, FilterName, ServiceDraft, ServiceId, TenantId, ValidationError,
};
use gslb_api_types::{ServiceView, Stored};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The service form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceForm {
    /// Empty for a new service.
    pub id: String,
    /// The revision that the form was made from.
    pub revision: String,
    /// Name.
    pub name: String,
    /// DNS name.
    pub domain: String,
    /// Pool.
    pub pool_id: String,
    /// Seconds.
    pub ttl: String,
    /// Number.
    pub max_answers: String,
    /// Ticked or empty.
    pub flatten: String,
    /// Ticked or empty.
    pub enabled: String,
    /// `none`, `all`, `list`.
    pub fallback: String,
    /// Addresses, for `list`.
    pub fallback_list: String,
    /// `chain` or `single`.
    pub mode: String,
    /// For `single`.
    pub algorithm: String,
    /// For `chain`.
    pub filter_chain: Vec<String>,
    /// What steps of the chain say after their colon, by position: scripts are written into a field of their own.
    pub arguments: BTreeMap<String, String>,
    /// Button of the builder that was pressed; empty to save.
    pub op: String,
    /// Saves over what someone else has saved meanwhile.
    pub overwrite: String,
}

impl ServiceForm {
    /// The form of a stored service, or of a new one.
    #[must_use]
    pub fn of(service: Option<&Stored<ServiceView>>) -> Self {
        let Some(stored) = service else {
            return Self {
                ttl: "30".to_owned(),
                max_answers: "1".to_owned(),
                enabled: "on".to_owned(),
                fallback: "none".to_owned(),
                mode: "single".to_owned(),
                algorithm: FilterName::RoundRobin.to_string(),
                ..Self::default()
            };
        };
        let draft = ServiceDraft::from(&stored.value);
        let (fallback, fallback_list) = match draft.fallback {
            Some(FallbackText::List(list)) => ("list".to_owned(), list.join(", ")),
            Some(FallbackText::Word(word)) => (word, String::new()),
            None => ("none".to_owned(), String::new()),
        };
        let number = |value: Option<i64>| value.map(|n| n.to_string()).unwrap_or_default();
        Self {
            id: stored.value.id.to_string(),
            revision: stored.revision.to_string(),
            name: stored.value.name.clone(),
            domain: stored.value.domain.to_string(),
            pool_id: stored.value.pool_id.to_string(),
            ttl: number(draft.ttl),
            max_answers: number(draft.max_answers),
            flatten: if stored.value.flatten { "on" } else { "" }.to_owned(),
            enabled: if stored.value.enabled { "on" } else { "" }.to_owned(),
            fallback,
            fallback_list,
            mode: if draft.filter_chain.is_some() {
                "chain"
            } else {
                "single"
            }
            .to_owned(),
            algorithm: draft
                .algorithm
                .unwrap_or_else(|| FilterName::RoundRobin.to_string()),
            filter_chain: draft.filter_chain.unwrap_or_default(),
            arguments: BTreeMap::new(),
            op: String::new(),
            overwrite: String::new(),
        }
    }

    /// Whether the chain counts, and not the algorithm.
    #[must_use]
    pub fn by_chain(&self) -> bool {
        self.mode == "chain"
    }

    /// The whole chain.
    #[must_use]
    pub fn chain(&self) -> Vec<String> {
        merge_arguments(&self.filter_chain, &self.arguments)
    }

    /// Moves problems to the fields that the form has for them: the list of addresses has one of its own.
    pub fn place(problems: &mut [ValidationError]) {
        for problem in problems {
            if problem.field.starts_with("fallback[") {
                problem.field = "fallbackList".to_owned();
            }
        }
    }

    /// The draft, and what is no number.
    #[must_use]
    pub fn draft(&self) -> (ServiceDraft, Vec<ValidationError>) {
        let mut problems = Vec::new();
        let fallback = match self.fallback.as_str() {
            "list" => {
                let list = step_list(&self.fallback_list);
                if list.is_empty() {
                    problems.push(ValidationError::new(
                        "fallbackList",
                        ErrorCode::Required,
                        "must name at least one address",
                    ));
                }
                FallbackText::List(list)
            }
            word => FallbackText::Word(word.to_owned()),
        };
        if self.by_chain() && self.filter_chain.is_empty() {
            problems.push(ValidationError::new(
                "filterChain",
                ErrorCode::Required,
                "add at least one step, or use a single algorithm",
            ));
        }
        let draft = ServiceDraft {
            name: given(&self.name),
            domain: given(&self.domain),
            pool_id: given(&self.pool_id),
            algorithm: if self.by_chain() {
                None
            } else {
                given(&self.algorithm)
            },
            filter_chain: self.by_chain().then(|| self.chain()),
            ttl: whole_number(&mut problems, "ttl", &self.ttl),
            enabled: Some(ticked(&self.enabled)),
            fallback: Some(fallback),
            max_answers: whole_number(&mut problems, "maxAnswers", &self.max_answers),
            flatten: Some(ticked(&self.flatten)),
        };
        (draft, problems)
    }
}

/// What only the server does with the form.
#[cfg(any(feature = "ssr", test))]
impl ServiceForm {
    /// Where the form is.
    #[must_use]
    pub fn path(&self) -> String {
        if self.id.is_empty() {
            "/services/new".to_owned()
        } else {
            format!("/services/{}/edit", self.id)
        }
    }

    /// The draft with what only the form can find: what is no number, and fields that the API has not.
    #[must_use]
    pub fn filled(&self) -> crate::backend::Filled<ServiceDraft> {
        let (draft, problems) = self.draft();
        crate::backend::Filled { draft, problems }
    }

    /// Does what a button of the builder says.
    pub fn press(&mut self) {
        let op = std::mem::take(&mut self.op);
        self.filter_chain = self.chain();
        self.arguments.clear();
        match op.as_str() {
            "mode:chain" | "mode:single" => self.mode = op.trim_start_matches("mode:").to_owned(),
            _ => apply_op(&mut self.filter_chain, &op),
        }
    }
}

impl Form for ServiceForm {
    const PARAM: &'static str = "service";

    fn problems(&self) -> Vec<ValidationError> {
        let (draft, mut problems) = self.draft();
        // Only the problems are wanted: any id will do.
        let id = ServiceId(TenantId::DEFAULT.0);
        if let Err(list) = draft.validate(id, TenantId::DEFAULT, FilterName::RoundRobin) {
            problems.extend(list);
        }
        Self::place(&mut problems);
        problems
    }
}

/// Which service to delete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceTarget {
    /// The service.
    pub id: String,
}

impl Form for ServiceTarget {
    const PARAM: &'static str = "delete";

    fn problems(&self) -> Vec<ValidationError> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> ServiceForm {
        ServiceForm {
            name: "web".to_owned(),
            domain: "www.example.com".to_owned(),
            pool_id: TenantId::DEFAULT.to_string(),
            mode: "chain".to_owned(),
            filter_chain: vec!["geo-ip".to_owned()],
            ..ServiceForm::of(None)
        }
    }

    #[test]
    fn a_whole_form_has_no_problem() {
        assert_eq!(form().problems(), []);
    }

    #[test]
    fn every_problem_is_found_at_once_and_by_its_field() {
        let bad = ServiceForm {
            domain: "www..example".to_owned(),
            ttl: "soon".to_owned(),
            fallback: "list".to_owned(),
            fallback_list: "192.0.2.1, nowhere".to_owned(),
            filter_chain: Vec::new(),
            ..form()
        };
        let problems = bad.problems();
        let mut fields: Vec<_> = problems.iter().map(|p| p.field.as_str()).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["domain", "fallbackList", "filterChain", "ttl"]);
    }

    #[test]
    fn buttons_change_mode_and_chain() {
        let mut form = form();
        for op in ["add:sticky", "up:1", "mode:single"] {
            form.op = op.to_owned();
            form.press();
        }
        assert_eq!(form.filter_chain, ["sticky", "geo-ip"]);
        assert!(!form.by_chain());
    }
}
