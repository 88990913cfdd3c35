//! Static records in a snapshot: what the names of a zone hold beside services.

use crate::model::{ErrorCode, Rdata, RecordSet, RecordType, ValidationError};
use std::sync::Arc;

/// The records of one type at one name, in wire form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledSet {
    /// Type.
    pub rtype: u16,
    /// Seconds.
    pub ttl: u32,
    /// Data of each record, names in it uncompressed and in lower case.
    pub data: Box<[Rdata]>,
}

impl CompiledSet {
    /// A set of this type.
    #[must_use]
    pub fn new(rtype: RecordType, ttl: u32, data: Vec<Rdata>) -> Self {
        Self {
            rtype: rtype.0,
            ttl,
            data: data.into(),
        }
    }

    /// Where an alias leads, in wire form.
    #[must_use]
    pub fn alias(&self) -> Option<&[u8]> {
        self.data.first().map(Rdata::as_wire)
    }
}

/// The static records of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeRecords {
    sets: Box<[CompiledSet]>,
    delegates: bool,
}

impl NodeRecords {
    /// Compiles the sets of one name.
    pub(super) fn compile<'a>(
        sets: impl IntoIterator<Item = &'a RecordSet>,
    ) -> Result<Arc<Self>, Vec<ValidationError>> {
        let mut compiled: Vec<CompiledSet> = Vec::new();
        let mut errors = Vec::new();
        for set in sets {
            if compiled.iter().any(|known| known.rtype == set.rtype.0) {
                errors.push(ValidationError::new(
                    format!("records[{}].type", set.id),
                    ErrorCode::Duplicate,
                    format!("{} has two sets of type {}", set.name, set.rtype),
                ));
                continue;
            }
            match set.rdata() {
                Ok(data) => compiled.push(CompiledSet::new(set.rtype, set.ttl, data)),
                Err(message) => errors.push(ValidationError::new(
                    format!("records[{}].data", set.id),
                    ErrorCode::Invalid,
                    message,
                )),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Arc::new(Self {
            delegates: compiled.iter().any(|set| set.rtype == RecordType::NS.0),
            sets: compiled.into(),
        }))
    }

    /// The set of a type.
    #[must_use]
    pub fn get(&self, rtype: u16) -> Option<&CompiledSet> {
        self.sets.iter().find(|set| set.rtype == rtype)
    }

    /// Every set.
    #[must_use]
    pub fn sets(&self) -> &[CompiledSet] {
        &self.sets
    }

    /// Whether the name is delegated: it has name servers, and (what is stored at an apex has none) is no apex.
    #[must_use]
    pub fn is_delegation(&self) -> bool {
        self.delegates
    }
}
