//! Parts that pages share.

pub mod text;
