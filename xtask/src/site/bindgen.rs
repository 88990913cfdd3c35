//! The step between the compiler's WASM and the browser's: wasm-bindgen as a library, so that its version is the one
//! in Cargo.lock and nothing has to be installed.

use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

/// JavaScript glue and WASM for `stem`, as an ES module that is told by the page where its WASM lies.
pub fn run(stem: &str, wasm: Vec<u8>) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut output = Bindgen::new()
        .input_bytes(stem, wasm)
        .out_name(stem)
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .generate_output()?;
    if !output.snippets().is_empty() || !output.local_modules().is_empty() {
        let crates: Vec<_> = output
            .snippets()
            .keys()
            .chain(output.local_modules().keys())
            .collect();
        bail!("a dependency brings JavaScript files of its own, which the site has no place for: {crates:?}");
    }
    let js = output.js().as_bytes().to_vec();
    let wasm = output.wasm_mut().emit_wasm();
    Ok((js, wasm))
}
