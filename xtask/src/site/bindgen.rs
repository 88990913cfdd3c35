//! The step between the compiler's WASM and the browser's: wasm-bindgen as a library, so that its version is the one
//! in Cargo.lock and nothing has to be installed.

use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

/// JavaScript glue and WASM for `stem`, as an ES module that is told by the page where its WASM lies. The names of
/// functions serve stack traces; they are half of the file, and a browser loads them for nothing.
pub fn run(stem: &str, wasm: Vec<u8>, names: bool) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut output = Bindgen::new()
        .input_bytes(stem, wasm)
        .out_name(stem)
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(!names)
        .remove_producers_section(true)
        .generate_output()?;
    // Every crate that uses wasm-bindgen has an entry; it counts only with a script in it.
    let with_scripts = output
        .snippets()
        .iter()
        .filter(|(_, scripts)| !scripts.is_empty())
        .map(|(name, _)| name);
    let foreign: Vec<_> = with_scripts.chain(output.local_modules().keys()).collect();
    if !foreign.is_empty() {
        bail!(
            "dependencies bring JavaScript files of their own, which the site has no place for: {foreign:?}"
        );
    }
    let js = output.js().as_bytes().to_vec();
    let wasm = output.wasm_mut().emit_wasm();
    Ok((js, wasm))
}
