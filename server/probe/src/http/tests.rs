//! What is sent, and to whom.
