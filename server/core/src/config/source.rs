//! Where values come from, and which of them wins.

use super::definition::Definition;
use super::error::{ConfigError, Problem};
use super::table::{Settings, TABLE};
use super::value::{FromNode, Id, from_node};
use super::yaml::{self, Node};
use gslb_engine::nearest::nearest;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Variables with our prefix that are no settings of the daemon.
const FOREIGN: [&str; 4] = [
    "GSLB_TOKEN",
    "GSLB_SERVER",
    "GSLB_CONFIG",
    "GSLB_DEFAULT_LICENSE_PUBLIC_KEYS",
];

/// Where the value of a setting comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// The table.
    #[default]
    Default,
    /// The file.
    File {
        /// Its name.
        path: PathBuf,
        /// Line of the key, from 1.
        line: u64,
    },
    /// A variable of the environment.
    Environment(String),
    /// The command line, or a program that starts the daemon itself.
    CommandLine(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{} line {line}", path.display()),
            Self::Environment(name) => f.write_str(name),
            Self::CommandLine(what) => f.write_str(what),
        }
    }
}

/// Everything that settings are made of. The process is asked in one place only, [`Sources::of_process`].
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Name and text of the file.
    pub file: Option<(PathBuf, String)>,
    /// Environment variables.
    pub environment: BTreeMap<String, String>,
    /// Host name, the default of `node.id`.
    pub host: String,
    /// `(setting, value, what set it)`, such as `("dns.port", "0", "--demo")`: wins over everything else.
    pub overrides: Vec<(String, String, String)>,
}

impl Sources {
    /// Environment and host name of this process, and the file: the one that is named, else the default one if it
    /// exists.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_process(file: Option<&Path>) -> Result<Self, ConfigError> {
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let path = file.unwrap_or(Path::new(super::DEFAULT_FILE));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => Some((path.to_owned(), text)),
            Err(error) if file.is_none() && error.kind() == std::io::ErrorKind::NotFound => None,
            Err(reason) => {
                return Err(ConfigError::Read {
                    path: path.to_owned(),
                    reason,
                });
            }
        };
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")
            .or_else(|_| std::env::var("HOSTNAME"))
            .unwrap_or_default();
        Ok(Self {
            file: text,
            environment,
            host,
            overrides: Vec::new(),
        })
    }

    /// Sets a value that wins over environment and file; `what` is told as its origin.
    #[must_use]
    pub fn with(mut self, setting: &str, value: impl fmt::Display, what: &str) -> Self {
        self.overrides
            .push((setting.to_owned(), value.to_string(), what.to_owned()));
        self
    }

    /// Reads and checks all settings.
    ///
    /// # Errors
    /// Every problem at once.
    pub fn load(&self) -> Result<Settings, ConfigError> {
        self.assemble(Files::Leave)
    }

    /// As [`Self::load`], and looks at the files that the settings name.
    ///
    /// # Errors
    /// Every problem at once.
    pub fn check(&self) -> Result<Settings, ConfigError> {
        self.assemble(Files::Read)
    }

    fn assemble(&self, files: Files) -> Result<Settings, ConfigError> {
        let mut loader = Loader::default();
        if let Some((path, text)) = &self.file {
            loader.read_file(path, text);
        }
        loader.read_environment(&self.environment);
        for (name, text, what) in &self.overrides {
            match TABLE.iter().find(|row| row.name.eq_ignore_ascii_case(name)) {
                Some(row) => {
                    let raw = Raw::Text(text.clone());
                    loader
                        .values
                        .insert(row.name, (raw, Origin::CommandLine(what.clone())));
                }
                None => loader.problem(what.clone(), format!("there is no setting `{name}`")),
            }
        }
        loader
            .values
            .entry("node.id")
            .or_insert_with(|| (Raw::Text(Id::from_host(&self.host)), Origin::Default));
        Settings::assemble(loader, files)
    }
}

/// What happens with the files that settings name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    /// Whoever uses them opens them.
    Leave,
    /// They are read, and what is wrong with them is a problem.
    Read,
}

/// A value before its type is known.
enum Raw {
    Text(String),
    Node(Node),
}

/// Collects values and problems.
#[derive(Default)]
pub(super) struct Loader {
    values: BTreeMap<&'static str, (Raw, Origin)>,
    /// Line of each signal zone in the file.
    pub(super) zone_lines: BTreeMap<String, u64>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<String>,
}

impl Loader {
    pub(super) fn problem(&mut self, place: String, message: String) {
        self.problems.push(Problem { place, message });
    }

    fn read_file(&mut self, path: &Path, text: &str) {
        match yaml::parse(text) {
            Ok((Node::Map(root), duplicates)) => {
                for duplicate in duplicates {
                    self.problem(place(path, duplicate.line), duplicate.to_string());
                }
                self.walk(path, "", &root);
            }
            Ok((other, _)) => {
                let message = format!(
                    "the file holds {}, and must be a mapping of sections",
                    other.kind()
                );
                self.problem(place(path, 1), message);
            }
            Err((line, message)) => self.problem(place(path, line.unwrap_or(1)), message),
        }
    }

    fn walk(&mut self, path: &Path, prefix: &str, entries: &[yaml::Entry]) {
        for entry in entries {
            let name = format!("{prefix}{}", entry.key);
            let at = || place(path, entry.line);
            if let Some(row) = TABLE.iter().find(|row| row.name.eq_ignore_ascii_case(&name)) {
                if entry.value == Node::Null {
                    // `key:` alone: not set.
                    continue;
                }
                let origin = Origin::File {
                    path: path.to_owned(),
                    line: entry.line,
                };
                if self
                    .values
                    .insert(row.name, (Raw::Node(entry.value.clone()), origin))
                    .is_some()
                {
                    self.problem(at(), format!("`{}` is set twice", row.name));
                }
                continue;
            }
            let inside = format!("{}.", name.to_ascii_lowercase());
            let is_section = TABLE
                .iter()
                .any(|row| row.name.to_ascii_lowercase().starts_with(&inside));
            match &entry.value {
                Node::Map(inner) if is_section => self.walk(path, &format!("{name}."), inner),
                Node::Null if is_section => {}
                other if is_section => {
                    self.problem(
                        at(),
                        format!("`{name}` is {}, and must be a section", other.kind()),
                    );
                }
                _ => {
                    let hint = known(&name, prefix);
                    self.problem(at(), format!("unknown setting `{name}`{hint}"));
                }
            }
        }
    }

    fn read_environment(&mut self, environment: &BTreeMap<String, String>) {
        let variables: Vec<String> = TABLE.iter().map(Definition::variable).collect();
        for (name, text) in environment.iter().filter(|(name, _)| name.starts_with("GSLB_")) {
            match TABLE
                .iter()
                .zip(&variables)
                .find(|(_, variable)| *variable == name)
            {
                Some(_) if text.is_empty() => {}
                Some((row, _)) => {
                    self.values.insert(
                        row.name,
                        (Raw::Text(text.clone()), Origin::Environment(name.clone())),
                    );
                }
                None if FOREIGN.contains(&name.as_str()) => {}
                None => {
                    let near = nearest(name, variables.iter().map(String::as_str));
                    let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
                    self.warnings
                        .push(format!("the environment variable {name} is no setting{hint}"));
                }
            }
        }
    }

    /// The typed value of a setting and where it comes from. With a problem it is the default, if there is one: nothing is
    /// started with it, but the other settings can be looked at.
    pub(super) fn take<T: FromNode>(&mut self, row: &'static Definition) -> (Option<T>, Origin) {
        let (result, origin) = match self.values.remove(row.name) {
            Some((Raw::Text(text), origin)) if text.is_empty() => (T::absent(), origin),
            Some((Raw::Text(text), origin)) => (T::from_text(&text), origin),
            Some((Raw::Node(node), origin)) => {
                if let (Node::Map(zones), "signals.static") = (&node, row.name) {
                    self.zone_lines = zones.iter().map(|zone| (zone.key.clone(), zone.line)).collect();
                }
                (from_node(&node), origin)
            }
            None if row.default.is_empty() => (T::absent(), Origin::Default),
            None => (T::from_text(row.default), Origin::Default),
        };
        match result {
            Ok(value) => (Some(value), origin),
            Err(message) => {
                self.problem(place_of(&origin), format!("`{}`: {message}", row.name));
                let instead = match row.default {
                    "" => T::absent(),
                    text => T::from_text(text),
                };
                (instead.ok(), Origin::Default)
            }
        }
    }
}

/// Where a setting with a problem was set.
pub(super) fn place_of(origin: &Origin) -> String {
    match origin {
        Origin::File { path, line } => place(path, *line),
        other => other.to_string(),
    }
}

fn place(path: &Path, line: u64) -> String {
    format!("{}:{line}", path.display())
}

/// The nearest known name: among the names at this level, else among all.
fn known(name: &str, prefix: &str) -> String {
    let level = prefix.len();
    let mut here: Vec<&str> = TABLE
        .iter()
        .filter(|row| {
            row.name
                .get(..level)
                .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
        })
        .filter_map(|row| {
            let end = row.name[level..]
                .find('.')
                .map_or(row.name.len(), |dot| level + dot);
            row.name.get(..end)
        })
        .collect();
    here.dedup();
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let elsewhere = || {
        TABLE
            .iter()
            .map(|row| row.name)
            .find(|known| last(known) == last(name))
    };
    match nearest(name, here.iter().copied()).or_else(elsewhere) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; known here are {}", here.join(", ")),
    }
}
