//! `/docs`: the OpenAPI document as a page, rendered here. No script, nothing loaded from elsewhere.

use serde_json::Value;
use std::fmt::Write;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Text made safe for HTML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

/// Backquoted parts of a description as code.
fn prose(text: &str) -> String {
    escape(text)
        .split('`')
        .enumerate()
        .map(|(i, part)| {
            if i % 2 == 1 {
                format!("<code>{part}</code>")
            } else {
                part.to_owned()
            }
        })
        .collect()
}

/// How a schema reads in a table: `string`, `Service`, `array of Pool`.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|r| r.rsplit('/').next())
    {
        return format!("<a href=\"#schema-{0}\">{0}</a>", escape(name));
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(list) = schema.get(key).and_then(Value::as_array) {
            let joint = if key == "allOf" { " and " } else { " or " };
            return list
                .iter()
                .map(type_of)
                .filter(|t| !t.is_empty())
                .collect::<Vec<_>>()
                .join(joint);
        }
    }
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        return list
            .iter()
            .map(|v| format!("<code>{}</code>", escape(&v.to_string())))
            .collect::<Vec<_>>()
            .join(", ");
    }
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "array" => {
            format!(
                "array of {}",
                schema.get("items").map(type_of).unwrap_or_default()
            )
        }
        Some(Value::String(kind)) => escape(kind),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .map(escape)
            .collect::<Vec<_>>()
            .join(" or "),
        _ => String::new(),
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn operation(page: &mut String, method: &str, path: &str, op: &Value) -> std::fmt::Result {
    let id = text(op, "operationId");
    write!(
        page,
        "<section class=\"op\" id=\"{}\"><h3><span class=\"m {method}\">{method}</span> ",
        escape(id)
    )?;
    write!(
        page,
        "<code>{}</code></h3><p>{}</p>",
        escape(path),
        prose(text(op, "summary"))
    )?;
    if !text(op, "description").is_empty() {
        write!(page, "<p>{}</p>", prose(text(op, "description")))?;
    }
    let parameters = op
        .get("parameters")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let body = op.pointer("/requestBody/content/application~1json/schema");
    if !parameters.is_empty() || body.is_some() {
        page.push_str(
            "<table><thead><tr><th>Takes</th><th>In</th><th>Type</th><th></th></tr></thead><tbody>",
        );
        for parameter in parameters {
            let kind = parameter.get("schema").map(type_of).unwrap_or_default();
            write!(
                page,
                "<tr><td><code>{}</code></td>",
                escape(text(parameter, "name"))
            )?;
            write!(page, "<td>{}</td><td>{kind}</td>", escape(text(parameter, "in")))?;
            write!(page, "<td>{}</td></tr>", prose(text(parameter, "description")))?;
        }
        if let Some(schema) = body {
            write!(
                page,
                "<tr><td>body</td><td>JSON</td><td>{}</td><td></td></tr>",
                type_of(schema)
            )?;
        }
        page.push_str("</tbody></table>");
    }
    page.push_str("<table><thead><tr><th>Answers</th><th>Type</th><th></th></tr></thead><tbody>");
    for (status, response) in op
        .get("responses")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let kind = response
            .pointer("/content/application~1json/schema")
            .map(type_of)
            .unwrap_or_default();
        let words = prose(text(response, "description"));
        write!(
            page,
            "<tr><td>{}</td><td>{kind}</td><td>{words}</td></tr>",
            escape(status)
        )?;
    }
    page.push_str("</tbody></table></section>");
    Ok(())
}

fn schema(page: &mut String, name: &str, schema: &Value) -> std::fmt::Result {
    write!(
        page,
        "<section class=\"op\" id=\"schema-{0}\"><h3>{0}</h3>",
        escape(name)
    )?;
    write!(page, "<p>{}</p>", prose(text(schema, "description")))?;
    let mut properties: Vec<(&String, &Value)> = Vec::new();
    let parts = schema
        .get("allOf")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    for part in std::iter::once(schema).chain(parts) {
        properties.extend(
            part.get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten(),
        );
    }
    if properties.is_empty() {
        write!(page, "<p>{}</p>", type_of(schema))?;
    } else {
        page.push_str("<table><tbody>");
        for (name, value) in properties {
            write!(
                page,
                "<tr><td><code>{}</code></td><td>{}</td>",
                escape(name),
                type_of(value)
            )?;
            write!(page, "<td>{}</td></tr>", prose(text(value, "description")))?;
        }
        page.push_str("</tbody></table>");
    }
    page.push_str("</section>");
    Ok(())
}

const STYLE: &str = "
:root{color-scheme:light dark;--line:#d5dae1;--soft:#f4f6f8;--ink:#17202b;--accent:#1a5fb4;--page:#fff}
@media(prefers-color-scheme:dark){:root{--line:#333d49;--soft:#1b222b;--ink:#dfe6ee;--accent:#7ab7ff;--page:#12171d}}
body{margin:0 auto;max-width:62rem;padding:1rem;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
a{color:var(--accent)}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}
.op{border:1px solid var(--line);border-radius:6px;padding:.2rem 1rem 1rem;margin:1rem 0;overflow-x:auto}
h3{font-size:1rem}table{border-collapse:collapse;width:100%;font-size:.9rem;margin:.4rem 0}
td,th{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0;border-top:1px solid var(--line)}
.m{display:inline-block;min-width:4rem;text-transform:uppercase;font-weight:700}
code{background:var(--soft);padding:.05rem .25rem;border-radius:3px;overflow-wrap:anywhere}";

fn render(document: &Value) -> Result<String, std::fmt::Error> {
    let mut page = String::from("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">");
    let title = document
        .pointer("/info/title")
        .and_then(Value::as_str)
        .unwrap_or_default();
    write!(
        page,
        "<title>{}</title><style>{STYLE}</style></head><body><main>",
        escape(title)
    )?;
    let words = document
        .pointer("/info/description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    write!(page, "<h1>{}</h1><p>{}</p>", escape(title), prose(words))?;
    page.push_str(
        "<p>For programs: <a href=\"/api/v1/openapi.json\">openapi.json</a>. <a href=\"/\">Console</a></p>",
    );
    let mut tag = "";
    let empty = serde_json::Map::new();
    let paths = document.get("paths").and_then(Value::as_object).unwrap_or(&empty);
    let mut operations: Vec<(&str, &str, &str, &Value)> = Vec::new();
    for (path, item) in paths {
        for method in METHODS {
            if let Some(op) = item.get(method) {
                let tag = op.pointer("/tags/0").and_then(Value::as_str).unwrap_or("other");
                operations.push((tag, path, method, op));
            }
        }
    }
    // A stable sort: within a tag the paths keep their order.
    operations.sort_by_key(|(tag, ..)| *tag);
    for (of, path, method, op) in operations {
        if of != tag {
            write!(page, "<h2>{}</h2>", escape(of))?;
            tag = of;
        }
        operation(&mut page, method, path, op)?;
    }
    page.push_str("<h2>Schemas</h2>");
    for (name, value) in document
        .pointer("/components/schemas")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        schema(&mut page, name, value)?;
    }
    page.push_str("</main></body></html>");
    Ok(page)
}

/// The page for a document.
#[must_use]
pub fn page(document: &utoipa::openapi::OpenApi) -> String {
    // Writing to a String does not fail, and the document is made of serialisable parts.
    serde_json::to_value(document)
        .ok()
        .and_then(|value| render(&value).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_document_says_cannot_break_out_of_the_page() {
        let document = serde_json::json!({
            "info": {"title": "<script>", "description": "uses `a<b`"},
            "paths": {"/x": {"get": {"operationId": "x", "summary": "a & b", "responses": {}}}}
        });
        let page = render(&document).unwrap_or_default();
        assert!(!page.contains("<script>"));
        assert!(page.contains("<code>a&lt;b</code>"));
        assert!(page.contains("a &amp; b"));
    }
}
