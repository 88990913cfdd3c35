//! The stored model: what an operator configures, as documents.
//!
//! `*Draft` types are what arrives from outside (every field optional, nothing trusted); `validate` turns a draft
//! into the stored type or lists every problem at once, by field. Stored types are always valid on their own;
//! rules across objects (a name taken, a pool that does not exist) are the use cases' business.

mod access;
mod endpoint;
mod error;
mod facts;
mod filter;
mod health;
mod id;
mod name;
mod pool;
mod record;
mod service;
mod step;
mod tier;
mod transfer;
mod warnings;
mod zone;

pub use access::{Actor, ActorKind, Permission, Role};
pub use endpoint::Endpoint;
pub use error::{ErrorCode, ValidationError, Warning};
pub use facts::{Finite, GeoDraft, LoadWatermarks, MAX_FENCE, MAX_LOAD, MemberGeo, WatermarksDraft};
pub use filter::{FILTERS, FilterClass, FilterInfo, FilterName, FilterParameter};
pub use health::{CheckKind, ExpectedStatus, HealthCheck, HealthCheckDraft, HttpCheck, StatusRange};
pub use id::{
    MemberId, PoolId, RecordId, RoleId, ServiceId, SessionId, TenantId, TokenId, TsigKeyId, UserId, ZoneId,
};
pub use name::DomainName;
pub use pool::{AdminState, MAX_MEMBERS, Member, MemberDraft, Pool, PoolDraft, Region, Transferred};
pub use record::{
    FileSet, Origin, Problem, Rdata, RecordDraft, RecordName, RecordSet, RecordType, Subject, Surroundings,
    ZoneFile, write_zone_file,
};
pub use service::{Fallback, FallbackText, MAX_STEPS, Routing, RoutingText, Service, ServiceDraft};
pub use step::FilterStep;
pub use tier::Tier;
pub use transfer::{
    NotifyTarget, NotifyTargetDraft, Transfer, TransferDraft, TransferPeer, TransferPeerDraft, TsigAlgorithm,
    key_name,
};
pub use zone::{Soa, Zone, ZoneDraft};
