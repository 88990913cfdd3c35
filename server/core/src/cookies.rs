//! Secrets of DNS cookies that nobody has configured: made here, kept beside the database, and replaced now and then.

use crate::config::cookie_secret;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

/// Name of the file, in the folder of the database.
const FILE: &str = "cookie-secrets";
/// Seconds after which a secret is replaced at a start (RFC 9018 §5 advises to do so, and leaves open when).
const LIFE: u64 = 30 * 86_400;

/// A secret and when it was made, Unix seconds.
type Dated = (u64, [u8; 16]);

/// The secrets kept in a folder, the one in use first and the one before it behind; makes what is missing. `now` is Unix
/// time, seconds.
///
/// # Errors
/// The file cannot be read, written, or holds something else.
pub fn kept_in(folder: &Path, now: u64) -> io::Result<Vec<[u8; 16]>> {
    let path = folder.join(FILE);
    let mut kept = match std::fs::read_to_string(&path) {
        Ok(text) => parse(&text).ok_or_else(|| {
            let what = format!("{} holds no secrets of DNS cookies", path.display());
            io::Error::new(io::ErrorKind::InvalidData, what)
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let is_due = |made: u64| now.saturating_sub(made) >= LIFE;
    if kept.first().is_none_or(|(made, _)| is_due(*made)) {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        kept.insert(0, (now, secret));
        kept.truncate(2);
        write(folder, &path, &kept)?;
    }
    Ok(kept.into_iter().map(|(_, secret)| secret).collect())
}

fn parse(text: &str) -> Option<Vec<Dated>> {
    let line = |line: &str| {
        let (made, digits) = line.split_once(' ')?;
        Some((made.parse().ok()?, cookie_secret(digits).ok()?))
    };
    let kept: Vec<_> = text.lines().map(line).collect::<Option<_>>()?;
    (!kept.is_empty()).then_some(kept)
}

/// Writes beside and renames, so that the file is whole at any time.
fn write(folder: &Path, path: &Path, kept: &[Dated]) -> io::Result<()> {
    let mut text = String::new();
    for (made, secret) in kept {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{made} {:032x}", u128::from_be_bytes(*secret));
    }
    let beside = folder.join(format!("{FILE}.new"));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&beside)?.write_all(text.as_bytes())?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_stays_for_a_month_and_is_accepted_for_another() {
        let folder = tempfile::tempdir().unwrap();
        let at = |now| kept_in(folder.path(), now).unwrap();
        let first = at(1000);
        assert_eq!(first.len(), 1);
        assert_eq!(at(1000 + LIFE - 1), first);
        let second = at(1000 + LIFE);
        assert_eq!((second.len(), second[1]), (2, first[0]));
        assert_ne!(second[0], first[0]);
        let third = at(1000 + 2 * LIFE);
        assert_eq!((third.len(), third[1]), (2, second[0]));
    }

    #[test]
    fn what_is_no_secret_is_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "nonsense\n").unwrap();
        assert!(kept_in(folder.path(), 1).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        kept_in(folder.path(), 1).unwrap();
        let mode = std::fs::metadata(folder.path().join(FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
