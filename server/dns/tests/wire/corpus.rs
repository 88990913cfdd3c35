//! The checked-in inputs of the fuzz target, replayed: what was found once is not found again.

use gslb_dns::fuzzing::packet;
use std::fs;
use std::path::Path;

#[test]
fn packets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine/fuzz/corpus/packet");
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        packet(&fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files > 0, "no inputs in {}", folder.display());
}
