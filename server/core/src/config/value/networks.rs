//! Lists of networks.

use super::{FromNode, SettingValue};
use crate::config::yaml::Node;
use ipnet::IpNet;
use std::net::IpAddr;

/// Networks. In the environment: separated by commas. An address alone is a network of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Networks(pub Vec<IpNet>);

fn network(text: &str) -> Result<IpNet, String> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(ip.into());
    }
    let network: IpNet = text
        .parse()
        .map_err(|_| format!("`{text}` is no network, such as 192.0.2.0/24 or 2001:db8::/32"))?;
    if network == network.trunc() {
        Ok(network)
    } else {
        Err(format!(
            "`{text}` has bits behind its prefix; the network is {}",
            network.trunc()
        ))
    }
}

impl SettingValue for Networks {
    fn from_text(text: &str) -> Result<Self, String> {
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        texts.map(network).collect::<Result<_, _>>().map(Self)
    }

    fn absent() -> Result<Self, String> {
        Ok(Self::default())
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "none".to_owned();
        }
        self.0.iter().map(IpNet::to_string).collect::<Vec<_>>().join(",")
    }
}

impl FromNode for Networks {
    fn from_node(node: &Node) -> Result<Self, String> {
        match node {
            Node::Scalar(text) => Self::from_text(text),
            Node::List(list) => {
                let each = list.iter().map(|item| match item {
                    Node::Scalar(text) => network(text.trim()),
                    other => Err(format!("an entry is {}, and must be a network", other.kind())),
                });
                each.collect::<Result<_, _>>().map(Self)
            }
            other => Err(format!("is {}, and must be a list of networks", other.kind())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_single_addresses() {
        let networks = Networks::from_text("10.0.0.0/8, 192.0.2.1,2001:db8::/32 ").unwrap();
        assert_eq!(networks.show(), "10.0.0.0/8,192.0.2.1/32,2001:db8::/32");
        assert_eq!(Networks::from_text(&networks.show()), Ok(networks.clone()));
        let list = ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"].map(|text| Node::Scalar(text.to_owned()));
        assert_eq!(Networks::from_node(&Node::List(list.to_vec())), Ok(networks));
        assert_eq!(Networks::default().show(), "none");
    }

    #[test]
    fn what_is_none_is_refused_in_words() {
        for (text, part) in [
            ("10.0.0.1/8", "the network is 10.0.0.0/8"),
            ("10.0.0.0/33", "no network"),
            ("proxy.example.com", "no network"),
        ] {
            let error = Networks::from_text(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(Networks::from_node(&Node::List(vec![Node::List(Vec::new())])).is_err());
    }
}
