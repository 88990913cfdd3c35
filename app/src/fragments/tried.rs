//! What comes of a service as its form is: who would get what, and what is wrong with it.

use super::preview;
use super::traces::who_gets;
use crate::api::services::Tried;
use crate::components::text;
use crate::failure::Failure;
use crate::forms::ServiceForm;
use gslb_api_types::{ApiError, Trace};
use leptos::prelude::*;

/// Clients to begin with, in three parts of the world: networks of documentation, where a geo database knows them, and
/// else ones of root name servers and registries, which stay where they are.
const CLIENTS: [[&str; 3]; 2] = [
    ["198.51.100.0/24", "203.0.113.0/24", "192.0.2.0/24"],
    ["198.41.0.0/24", "193.0.6.0/24", "202.12.27.0/24"],
];

/// Tries the service of a form.
///
/// # Errors
/// Nobody is logged in.
pub async fn tried(form: ServiceForm, clients: Vec<String>) -> Result<Tried, Failure> {
    let backend = crate::api::backend()?;
    let id = form.id.parse().ok();
    let ask = async |clients: &[String]| backend.try_service(id, form.filled(), clients).await;
    let (clients, told) = if clients.is_empty() {
        let [known, real] = CLIENTS.map(|list| list.map(str::to_owned).to_vec());
        match ask(&known).await {
            Ok(told) if told.iter().all(|one| !has_country(one)) => {
                let told = ask(&real).await;
                (real, told)
            }
            told => (known, told),
        }
    } else {
        let told = ask(&clients).await;
        (clients, told)
    };
    let mut verdict = String::new();
    let (html, problems) = match told {
        Ok(told) => {
            let mut html = who_gets(clients.iter().cloned().zip(told).collect());
            // A service that is not stored yet has not been asked.
            if let Some(id) = id
                && let Ok(preview) = backend.preview(id, form.filled()).await
            {
                verdict = preview::verdict(&preview);
                html.push_str(&preview::preview(preview));
            }
            (html, Vec::new())
        }
        Err(error) if error.code == "unauthorized" => return Err(error.into()),
        Err(error) if error.code == "forbidden" => (String::new(), Vec::new()),
        Err(error) => (why_not(&error), error.details),
    };
    Ok(Tried {
        html,
        verdict,
        clients,
        problems,
    })
}

fn has_country(told: &Result<Trace, ApiError>) -> bool {
    told.as_ref().is_ok_and(|trace| trace.client.country.is_some())
}

fn why_not(error: &ApiError) -> String {
    let line = match error.details.first() {
        Some(problem) if problem.field == "poolId" => "Choose a pool to see it.".to_owned(),
        Some(problem) => text::problem(&problem.field, &problem.message),
        None => error.message.clone(),
    };
    view! { <p class="gets-problem">{line}</p> }.into_any().to_html()
}
