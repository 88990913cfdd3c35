//! The reference pages in `docs/` say what the tables say. After a change of a table, run this test with
//! `UPDATE_DOCS=1` and commit what it writes.

use std::path::Path;

fn compare(file: &str, title: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(file);
    let wanted =
        format!("# {title}\n\nGenerated from the table in the code; a test keeps it true.\n\n{table}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, wanted,
        "docs/{file} is out of date: run this test with UPDATE_DOCS=1"
    );
}

#[test]
fn the_settings_page_is_true() {
    compare("settings.md", "Settings", &gslb_core::config::reference());
}

#[test]
fn the_metrics_page_is_true() {
    compare("metrics.md", "Metrics", &gslb_core::metrics::reference());
}
