//! Decisions are the same on every architecture: here they are compared with the pinned numbers, which
//! `cargo xtask test --only wasm` compares on wasm32 as well. After a change of what a step means:
//! `UPDATE_PORTABLE=1 cargo test -p gslb-engine --test portable`.

use gslb_engine::testing::portable::{difference, digests};

#[test]
#[expect(clippy::disallowed_methods, reason = "the numbers are a file")]
fn decisions_are_as_pinned() {
    if std::env::var_os("UPDATE_PORTABLE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/testing/portable.txt");
        std::fs::write(path, digests().join("\n") + "\n").unwrap();
        return;
    }
    assert_eq!(
        difference(),
        None,
        "line in testing/portable.txt, and what it is here"
    );
}
