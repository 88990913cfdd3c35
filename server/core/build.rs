//! Rebuilds the crate when a migration is added: `sqlx::migrate!` alone does not notice new files.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
