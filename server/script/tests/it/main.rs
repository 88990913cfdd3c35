//! Scripts in real worker processes.

mod bodies;
mod breaker;
mod chains;
mod compile;
mod corpus;
mod hostile;
mod processes;
mod proof;
mod quick;
mod routing;
mod support;
