//! The server as a client sees it: real sockets, octets in, octets out. Modules are named after the RFC whose sections
//! they check; `battery` asks every kind of name everything.

mod battery;
mod corpus;
mod life;
mod proxy;
mod random;
mod rate;
mod rfc1034;
mod rfc1035;
mod rfc2308;
mod rfc3597;
mod rfc4034;
mod rfc4035;
mod rfc4343;
mod rfc4592;
mod rfc5001;
mod rfc6604;
mod rfc6840;
mod rfc6891;
mod rfc7766;
mod rfc7858;
mod rfc7871;
mod rfc7873;
mod rfc8020;
mod rfc8482;
mod rfc8906;
mod rfc8914;
mod rfc9077;
mod rfc9250;
mod rfc9460;
mod rfc9471;
mod rfc9619;
mod rfc9824;
mod scripts;
mod support;
mod ways;
