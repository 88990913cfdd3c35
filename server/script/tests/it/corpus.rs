//! The checked-in inputs of the fuzz target, replayed: what was found once is not found again.

use crate::support::workers;
use gslb_script::fuzzing::{Ran, script};
use std::fs;
use std::path::Path;

#[test]
fn scripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine/fuzz/corpus/script");
    let workers = workers();
    let mut ran = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        ran.push(script(&fs::read(path).unwrap(), &workers));
    }
    for way in [Ran::NotAtAll, Ran::InWorker, Ran::Here] {
        assert!(ran.contains(&way), "none is run so: {way:?}");
    }
}
