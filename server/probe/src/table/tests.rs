//! The set of probes over made-up time.
