//! What a reload did.

/// Settings whose values differed when the sources were read again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reload {
    /// In force now.
    pub applied: Vec<&'static str>,
    /// Not before the next start.
    pub ignored: Vec<&'static str>,
}
