//! The checked-in inputs of the fuzz targets, replayed: what was found once is not found again.

use gslb_engine::testing::{entropy, fuzz};
use std::fs;
use std::path::Path;

#[expect(clippy::disallowed_methods, reason = "the inputs are files")]
fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        run(&fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files > 0, "no inputs in {}", folder.display());
    // And some that nobody chose.
    for n in 0..200 {
        let input: Vec<u8> = (0..40 + n * 3)
            .flat_map(|word| entropy(n << 16 | word).to_le_bytes())
            .collect();
        run(&input);
    }
}

#[test]
fn chains() {
    replay("chain", fuzz::chain);
}

#[test]
fn ranges() {
    replay("ranges", fuzz::ranges);
}

#[test]
fn zone_files() {
    replay("zonefile", fuzz::zone_file);
}

#[test]
fn map_files() {
    replay("mapfile", fuzz::mapfile);
}
