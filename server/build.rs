//! Tells cargo that a release embeds the built console, so that a new console makes a new program. Debug builds read
//! the console from the disk at run time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A debug build looks the folder up while it is compiled: one that is absent then would be absent for ever.
    if let Err(error) = std::fs::create_dir_all("../target/site") {
        println!("cargo::warning=target/site cannot be made, so the console will not be found: {error}");
    }
    // An absent folder counts as changed: the first build with a console is not taken for the one without.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rerun-if-changed=../target/site");
    }
}
