//! What crosses the wire between `gslbd` and its clients: console, command line, Terraform, scripts.
//!
//! Requests are the drafts of [`gslb_engine::model`] (re-exported in [`model`]); answers and events are here. JSON is
//! camelCase. Nothing in this crate touches HTTP, so that it also compiles for the browser.

#![forbid(unsafe_code)]

mod access;
mod config;
mod dnssec;
mod error;
mod event;
mod page;
mod preview;
mod resource;
mod status;
mod trace;
mod tsig;

pub use access::{
    AuditEntry, AuditQuery, LicenseDraft, LicenseView, LoginRequest, OpenSession, PasswordChange, RoleDraft,
    RoleView, SessionQuery, SessionView, TenantChoice, TenantDraft, TenantView, TokenCreated, TokenDraft,
    TokenView, UserDraft, UserView,
};
pub use config::{CONFIG_FORMAT, ConfigChange, ConfigDocument, ConfigImportQuery, ConfigReport};
pub use dnssec::{
    DnssecDraft, DnssecKeyDraft, DnssecKeyView, DnssecMode, DnssecView, KeyRole, KeyState, RollQuery,
};
pub use error::{ApiError, ErrorBody};
pub use event::{Event, EventKind, HealthState};
pub use gslb_engine::model;
pub use gslb_engine::trace::{Detail, StepAction, StepTrace, Trace, TraceCandidate, TraceClient, TraceGate};
pub use page::{ListQuery, Page};
pub use preview::{
    Preview, PreviewCountry, PreviewMove, PreviewOutcome, PreviewRequest, PreviewShare, PreviewTrace,
    ScriptTime, SignalsDraft,
};
pub use resource::{
    CheckView, ImportMode, ImportQuery, ImportReport, PoolSummary, PoolView, RecordChange, RecordView,
    ServiceDetail, ServiceRow, ServiceView, Stored, ZoneView,
};
pub use status::{
    Dashboard, DownMember, HostStatus, LoadDraft, MemberStatus, PoolStatus, ProbePoint, RatePoint,
    SettingView, SignalView, SignalZone, SignalsAt, SignalsView,
};
pub use trace::TraceRequest;
pub use tsig::{TsigKeyCreated, TsigKeyDraft, TsigKeyView};
