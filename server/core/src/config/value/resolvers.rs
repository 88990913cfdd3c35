//! The resolvers that are asked about host names.

use super::{FromNode, SettingValue};
use crate::config::yaml::Node;
use std::net::{IpAddr, SocketAddr};

/// Resolvers, with their ports; none are those of the system. In the environment: separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resolvers(pub Vec<SocketAddr>);

fn resolver(text: &str) -> Result<SocketAddr, String> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let address = match bare.parse::<IpAddr>() {
        Ok(ip) => Some(SocketAddr::new(ip, 53)),
        Err(_) => text.parse().ok(),
    };
    address
        .filter(|address| {
            !address.ip().is_unspecified() && !address.ip().is_multicast() && address.port() > 0
        })
        .ok_or_else(|| {
            format!("`{text}` is no resolver: write `192.0.2.53`, `192.0.2.53:5300` or `[2001:db8::53]:5300`")
        })
}

impl SettingValue for Resolvers {
    fn from_text(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(resolver).collect::<Result<_, _>>().map(Self)
    }

    fn absent() -> Result<Self, String> {
        Ok(Self::default())
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "those of /etc/resolv.conf".to_owned();
        }
        self.0
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(",")
    }
}

impl FromNode for Resolvers {
    fn from_node(node: &Node) -> Result<Self, String> {
        match node {
            Node::Scalar(text) => Self::from_text(text),
            Node::List(list) => {
                let texts: Result<Vec<&str>, String> = list
                    .iter()
                    .map(|item| match item {
                        Node::Scalar(text) => Ok(text.as_str()),
                        other => Err(format!("an entry is {}, and must be an address", other.kind())),
                    })
                    .collect();
                Self::from_text(&texts?.join(","))
            }
            other => Err(format!("is {}, and must be a list of addresses", other.kind())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_and_without_a_port() {
        let show = |text: &str| Resolvers::from_text(text).map(|value| value.show());
        assert_eq!(
            show("192.0.2.53, 192.0.2.54:5300,2001:db8::53,[2001:db8::54]:5300").as_deref(),
            Ok("192.0.2.53:53,192.0.2.54:5300,[2001:db8::53]:53,[2001:db8::54]:5300")
        );
        assert_eq!(show("").as_deref(), Ok("those of /etc/resolv.conf"));
        for wrong in [
            "resolver.example",
            "0.0.0.0",
            "192.0.2.53:0",
            "192.0.2.53:x",
            "224.0.0.1",
        ] {
            assert!(show(wrong).is_err(), "{wrong}");
        }
    }
}
