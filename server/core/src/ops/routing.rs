//! The tier and permission that a service's routing needs, looked at before anything else about the request.

use super::{Ops, require};
use crate::error::OpError;
use gslb_engine::model::{
    Actor, ErrorCode, FilterName, FilterStep, Permission, Routing, Service, ServiceDraft, Tier,
    ValidationError,
};

/// Begin of a chain entry that carries a script.
const SCRIPT: &str = "script:";

/// What a draft's routing texts ask for. Texts and not the parsed steps: a request above the tier is refused as
/// such, whatever else may be wrong with it.
fn wanted(chain: &[String], algorithm: Option<&str>) -> (Tier, &'static str) {
    if chain.iter().any(|step| step.starts_with(SCRIPT)) {
        (Tier::Enterprise, "script steps")
    } else if !chain.is_empty() {
        (Tier::Pro, "filter chains")
    } else {
        let name = algorithm.and_then(FilterName::parse_algorithm);
        name.map_or((Tier::Free, ""), |name| (name.algorithm_tier(), name.as_str()))
    }
}

/// What is wrong with the scripts of a chain: this build cannot run any. `field` names the chain.
#[must_use]
pub fn script_errors(field: &str, chain: &[String]) -> Vec<ValidationError> {
    let scripts = chain
        .iter()
        .enumerate()
        .filter(|(_, step)| step.starts_with(SCRIPT));
    scripts
        .map(|(index, _)| {
            ValidationError::new(
                format!("{field}[{index}]"),
                ErrorCode::Unsupported,
                "script steps are not in this build yet; use the built-in filters",
            )
        })
        .collect()
}

impl Ops {
    /// Refuses routing above the tier, and scripts without `scripts:write`, unless it is what `stored` has already.
    pub(super) fn gate(
        &self,
        actor: &Actor,
        draft: &ServiceDraft,
        stored: Option<&Service>,
    ) -> Result<(), OpError> {
        let chain = draft.filter_chain.as_deref().unwrap_or_default();
        if let Some(stored) = stored {
            let unchanged = match &stored.routing {
                Routing::Chain(steps) => {
                    // Parsed, since a form sends the lines of a script back with other ends.
                    let same = |(stored, text): (&FilterStep, &String)| {
                        FilterStep::parse("", text).is_ok_and(|step| step == *stored)
                    };
                    steps.len() == chain.len() && steps.iter().zip(chain).all(same)
                }
                Routing::Algorithm(name) => {
                    chain.is_empty()
                        && draft.algorithm.as_deref().and_then(FilterName::parse_algorithm) == Some(*name)
                }
            };
            if unchanged {
                return Ok(());
            }
        }
        self.gate_texts(actor, chain, draft.algorithm.as_deref())
    }

    /// As [`gate`](Self::gate) for routing that is tried and not stored (tracer, preview).
    ///
    /// # Errors
    /// [`OpError::LicenseRequired`] above the tier, [`OpError::Forbidden`] for a script without `scripts:write`.
    pub fn gate_texts(
        &self,
        actor: &Actor,
        chain: &[String],
        algorithm: Option<&str>,
    ) -> Result<(), OpError> {
        let (needed, what) = wanted(chain, algorithm);
        let tier = self.tier();
        if needed > tier {
            let contact = self.settings().license.contact.clone();
            return Err(OpError::LicenseRequired {
                tier: needed,
                message: format!(
                    "{what} need the {needed} tier; the {tier} tier is in force. To upgrade, contact {contact}"
                ),
            });
        }
        if chain.iter().any(|step| step.starts_with(SCRIPT)) {
            require(actor, Permission::ScriptsWrite)?;
        }
        Ok(())
    }

    /// The configured default for services that name neither algorithm nor chain.
    pub(super) fn default_algorithm(&self) -> FilterName {
        self.settings().load_balancer.algorithm
    }
}
