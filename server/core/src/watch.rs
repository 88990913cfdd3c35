//! Notices that a watched file has changed: written, replaced by a rename, or put behind another symbolic link.

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// After a sign of change, this long without another before the file is looked at: it may still be written.
const QUIET: Duration = Duration::from_millis(200);

/// What tells one content of a file from another without reading it.
type Stamp = Option<(SystemTime, u64, u64)>;

#[cfg(unix)]
fn stamp(path: &Path) -> Stamp {
    use std::os::unix::fs::MetadataExt as _;
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len(), meta.ino()))
}

#[cfg(not(unix))]
fn stamp(path: &Path) -> Stamp {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len(), 0))
}

#[derive(Debug, Default)]
struct Watched {
    stamps: HashMap<PathBuf, Stamp>,
    folders: HashSet<PathBuf>,
}

/// Watches files. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FileWatch {
    watched: Arc<Mutex<Watched>>,
    watcher: Arc<Mutex<Option<RecommendedWatcher>>>,
}

impl FileWatch {
    /// Starts without files; `changed` is called with those that changed, until `stop`.
    #[must_use]
    pub fn start(
        tasks: &TaskTracker,
        stop: CancellationToken,
        changed: impl Fn(Vec<PathBuf>) + Send + 'static,
    ) -> Self {
        let (signs, mut signs_in) = mpsc::unbounded_channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                // The receiver is gone only when the daemon stops.
                let _ = signs.send(());
            }
        });
        let watcher = watcher
            .inspect_err(|error| tracing::warn!(%error, "cannot watch files; SIGHUP reloads them"))
            .ok();
        let this = Self {
            watched: Arc::default(),
            watcher: Arc::new(Mutex::new(watcher)),
        };
        let watched = Arc::clone(&this.watched);
        tasks.spawn(async move {
            loop {
                let sign = tokio::select! {
                    sign = signs_in.recv() => sign,
                    () = stop.cancelled() => return,
                };
                if sign.is_none() {
                    return;
                }
                while tokio::time::timeout(QUIET, signs_in.recv())
                    .await
                    .is_ok_and(|sign| sign.is_some())
                {}
                let files = take_changed(&watched);
                if !files.is_empty() {
                    changed(files);
                }
            }
        });
        this
    }

    /// Watches these files and no others; one that does not exist yet is seen when it appears.
    pub fn set(&self, files: impl IntoIterator<Item = PathBuf>) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folders = HashSet::new();
        let mut stamps = HashMap::new();
        for file in files {
            // The folder and not the file: a file that is replaced by a rename takes its watch along.
            let folder = match file.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
                _ => PathBuf::from("."),
            };
            folders.insert(folder);
            let stamp = stamp(&file);
            stamps.insert(file, stamp);
        }
        if let Some(watcher) = watcher.as_mut() {
            for old in watched.folders.difference(&folders) {
                // It may be gone: then its watch is, too.
                let _ = watcher.unwatch(old);
            }
            for new in folders.difference(&watched.folders) {
                if let Err(error) = watcher.watch(new, RecursiveMode::NonRecursive) {
                    tracing::warn!(folder = %new.display(), %error, "cannot watch a folder; SIGHUP reloads its files");
                }
            }
        }
        *watched = Watched { stamps, folders };
    }
}

fn take_changed(watched: &Mutex<Watched>) -> Vec<PathBuf> {
    let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
    let mut changed = Vec::new();
    for (path, old) in &mut watched.stamps {
        let new = stamp(path);
        if new != *old {
            *old = new;
            changed.push(path.clone());
        }
    }
    changed.sort();
    changed
}
