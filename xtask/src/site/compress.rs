//! Compressed copies beside each file: `.br` and `.gz`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

/// How hard to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// A fraction of a second for the whole bundle.
    Quick,
    /// The smallest form; seconds.
    Smallest,
}

impl Effort {
    fn brotli(self) -> u32 {
        match self {
            Self::Quick => 3,
            Self::Smallest => 11,
        }
    }

    fn gzip(self) -> Compression {
        match self {
            Self::Quick => Compression::fast(),
            Self::Smallest => Compression::best(),
        }
    }
}

/// Window of 2^22 bytes, the largest that browsers must accept.
const BROTLI_WINDOW: u32 = 22;
const BUFFER: usize = 1 << 16;

/// Writes the compressed copies of `path`, unless its format is compressed already.
pub fn beside(path: &Path, content: &[u8], effort: Effort) -> Result<()> {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    if !matches!(
        &*ending,
        "js" | "wasm" | "css" | "svg" | "html" | "json" | "txt" | "ico" | "webmanifest"
    ) {
        return Ok(());
    }
    let brotli = with_suffix(path, ".br");
    let mut encoder = brotli::CompressorWriter::new(create(&brotli)?, BUFFER, effort.brotli(), BROTLI_WINDOW);
    encoder
        .write_all(content)
        .and_then(|()| encoder.into_inner().flush())
        .with_context(|| brotli.display().to_string())?;
    let gzip = with_suffix(path, ".gz");
    let mut encoder = GzEncoder::new(create(&gzip)?, effort.gzip());
    encoder
        .write_all(content)
        .and_then(|()| encoder.finish()?.flush())
        .with_context(|| gzip.display().to_string())
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    File::create(path)
        .map(BufWriter::new)
        .with_context(|| format!("writing {}", path.display()))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read as _;

    use super::*;

    #[test]
    fn both_copies_give_the_content_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gslb.js");
        let content = "let answer = 42;\n".repeat(1000);
        for effort in [Effort::Quick, Effort::Smallest] {
            beside(&path, content.as_bytes(), effort).unwrap();
            let mut text = String::new();
            brotli::Decompressor::new(File::open(folder.path().join("gslb.js.br")).unwrap(), 4096)
                .read_to_string(&mut text)
                .unwrap();
            assert_eq!(text, content);
            text.clear();
            flate2::read::GzDecoder::new(File::open(folder.path().join("gslb.js.gz")).unwrap())
                .read_to_string(&mut text)
                .unwrap();
            assert_eq!(text, content);
        }
    }

    #[test]
    fn compressed_formats_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        beside(&folder.path().join("photo.png"), b"png", Effort::Quick).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
