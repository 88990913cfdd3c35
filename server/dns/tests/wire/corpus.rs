//! The checked-in inputs of the fuzz targets, replayed: what was found once is not found again.

use gslb_dns::fuzzing::{packet, proxied};
use std::fs;
use std::path::Path;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../engine/fuzz/corpus")
        .join(target);
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        run(&fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files > 0, "no inputs in {}", folder.display());
}

#[test]
fn packets() {
    replay("packet", packet);
}

#[test]
fn datagrams_of_proxies() {
    replay("proxy", proxied);
}
