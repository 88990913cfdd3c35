//! The tier and permission that a service's routing needs, looked at before anything else about the request.

use super::{Ops, require};
use crate::error::OpError;
use gslb_engine::model::{
    Actor, ErrorCode, FilterName, FilterStep, Permission, Routing, Service, ServiceDraft, ServiceId, Tier,
    ValidationError,
};
use gslb_engine::script::Place;
use std::sync::Arc;

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

/// What is wrong with the scripts of a chain, by their body.
#[derive(Debug, Default)]
pub(super) struct ScriptVerdicts(Vec<(String, String)>);

impl ScriptVerdicts {
    /// Errors of the scripts in `chain` that `stored` has not: one that is stored stays, whatever has become of it.
    pub(super) fn errors(
        &self,
        field: &str,
        chain: &[String],
        stored: Option<&Service>,
    ) -> Vec<ValidationError> {
        let is_stored = |body: &str| stored.is_some_and(|service| has_script(service, body));
        let wrong = scripts_of(chain).filter(|(_, body)| !is_stored(body));
        wrong
            .filter_map(|(index, body)| {
                let (_, message) = self.0.iter().find(|(wrong, _)| **wrong == *body)?;
                let field = format!("{field}[{index}]");
                Some(ValidationError::new(field, ErrorCode::Invalid, message.clone()))
            })
            .collect()
    }
}

fn has_script(service: &Service, body: &str) -> bool {
    match &service.routing {
        Routing::Chain(steps) => steps.iter().any(|step| step.script() == Some(body)),
        Routing::Algorithm(_) => false,
    }
}

/// Bodies of the scripts in a chain, with their positions. What is no step at all is told by those who parse it.
fn scripts_of(chain: &[String]) -> impl Iterator<Item = (usize, Arc<str>)> {
    chain.iter().enumerate().filter_map(|(index, text)| {
        let step = FilterStep::parse("", text).ok()?;
        step.script().map(|body| (index, Arc::from(body)))
    })
}

impl Ops {
    /// Compiles the scripts of a chain, if the actor may write any at all: nobody else is to keep workers busy. Takes
    /// milliseconds, and so comes before the lock of writes.
    pub(super) async fn compile_scripts(&self, actor: &Actor, chain: &[String]) -> ScriptVerdicts {
        if self.tier() < Tier::Enterprise || !actor.may(Permission::ScriptsWrite) {
            return ScriptVerdicts::default();
        }
        let bodies: Vec<Arc<str>> = scripts_of(chain).map(|(_, body)| body).collect();
        if bodies.is_empty() {
            return ScriptVerdicts::default();
        }
        let scripts = Arc::clone(&self.parts.scripts);
        let compile = move || {
            let wrong = bodies.iter().filter_map(|body| {
                Some((
                    body.to_string(),
                    scripts.compile(body, Place::Trial).err()?.to_string(),
                ))
            });
            wrong.collect()
        };
        match tokio::task::spawn_blocking(compile).await {
            Ok(wrong) => ScriptVerdicts(wrong),
            // The snapshot compiles it again, and a script that does not compile there fails open.
            Err(error) => {
                tracing::error!(%error, "scripts could not be compiled");
                ScriptVerdicts::default()
            }
        }
    }

    /// What is wrong with the scripts of a chain that is tried and not stored, after [`gate_texts`](Self::gate_texts).
    /// `field` names the chain.
    pub async fn script_errors(&self, actor: &Actor, field: &str, chain: &[String]) -> Vec<ValidationError> {
        let verdicts = self.compile_scripts(actor, chain).await;
        verdicts.errors(field, chain, None)
    }

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
        self.gate_tier(chain, draft.algorithm.as_deref())?;
        // A script that the service has already may stay, wherever in the chain.
        let is_new = |body: &str| !stored.is_some_and(|service| has_script(service, body));
        if scripts_of(chain).any(|(_, body)| is_new(&body)) {
            require(actor, Permission::ScriptsWrite)?;
        }
        Ok(())
    }

    /// As [`gate`](Self::gate) for routing that is tried and not stored (tracer, preview): on `service`, whose own
    /// scripts may be tried by everybody who may read them.
    ///
    /// # Errors
    /// [`OpError::LicenseRequired`] above the tier, [`OpError::Forbidden`] for another script without `scripts:write`.
    pub async fn gate_texts(
        &self,
        actor: &Actor,
        chain: &[String],
        algorithm: Option<&str>,
        service: Option<ServiceId>,
    ) -> Result<(), OpError> {
        self.gate_tier(chain, algorithm)?;
        if actor.may(Permission::ScriptsWrite) || !chain.iter().any(|step| step.starts_with(SCRIPT)) {
            return Ok(());
        }
        let stored = match service {
            Some(id) => self.get_service(actor, id).await.ok(),
            None => None,
        };
        let is_new = |body: &str| {
            !stored
                .as_ref()
                .is_some_and(|service| has_script(&service.value, body))
        };
        if scripts_of(chain).any(|(_, body)| is_new(&body)) {
            require(actor, Permission::ScriptsWrite)?;
        }
        Ok(())
    }

    fn gate_tier(&self, chain: &[String], algorithm: Option<&str>) -> Result<(), OpError> {
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
        Ok(())
    }

    /// The configured default for services that name neither algorithm nor chain.
    pub(super) fn default_algorithm(&self) -> FilterName {
        self.settings().load_balancer.algorithm
    }
}
