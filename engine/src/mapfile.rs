//! The map file: `CIDR  target[, target...]`, one rule a line, `#` begins a comment. Only the text; somebody else reads the
//! file.

use crate::environment::MapRule;
use crate::model::Region;
use ipnet::IpNet;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

/// Problems reported of one file; a file of another kind would give one a line.
const MAX_PROBLEMS: usize = 20;

/// A problem with one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Parses the text of a map file.
///
/// # Errors
/// The first problems, with their line numbers.
pub fn parse(text: &str) -> Result<Vec<MapRule>, Vec<LineError>> {
    let mut rules = Vec::new();
    let mut problems = Vec::new();
    let mut seen: HashMap<IpNet, usize> = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let result = rule(line).and_then(|rule| match seen.insert(rule.network, number) {
            None => Ok(rule),
            Some(first) => Err(format!("{} is in line {first} already", rule.network)),
        });
        match result {
            Ok(rule) => rules.push(rule),
            Err(message) => problems.push(LineError {
                line: number,
                message,
            }),
        }
        if problems.len() == MAX_PROBLEMS {
            break;
        }
    }
    if problems.is_empty() {
        Ok(rules)
    } else {
        Err(problems)
    }
}

fn rule(line: &str) -> Result<MapRule, String> {
    let (network, targets) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let parsed: IpNet = match network.parse() {
        Ok(parsed) => parsed,
        Err(_) => match network.parse::<IpAddr>() {
            Ok(ip) => {
                return Err(format!(
                    "`{network}` has no prefix length; write {}",
                    IpNet::from(ip)
                ));
            }
            Err(_) => {
                return Err(format!(
                    "`{network}` is no network such as 192.0.2.0/24 or 2001:db8::/32"
                ));
            }
        },
    };
    if parsed.addr() != parsed.network() {
        return Err(format!(
            "`{network}` has bits set past its prefix; write {}",
            parsed.trunc()
        ));
    }
    let mut list: Vec<String> = Vec::new();
    for target in targets.split(',').map(str::trim) {
        if target.is_empty() {
            return Err(
                "a target is missing: write a region or a member address, or several with commas".to_owned(),
            );
        }
        // An address in the form in which members are stored.
        let target = match target.parse::<IpAddr>() {
            Ok(ip) => ip.to_canonical().to_string(),
            Err(_) => Region::parse("target", target)
                .map_err(|error| format!("the target `{target}` {}", error.message))?
                .to_string(),
        };
        if !list.contains(&target) {
            list.push(target);
        }
    }
    Ok(MapRule {
        network: parsed,
        targets: list,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_targets_and_comments() {
        let text = "# head\n192.0.2.0/24  eu-west, US ,10.0.0.1, US,::ffff:10.0.0.1 # tail\n\n2001:db8::/32\tDE\n0.0.0.0/0 New York\r\n";
        let rules = parse(text).unwrap();
        let shown: Vec<_> = rules
            .iter()
            .map(|r| (r.network.to_string(), r.targets.join("|")))
            .collect();
        assert_eq!(
            shown,
            [
                ("192.0.2.0/24".to_owned(), "eu-west|US|10.0.0.1".to_owned()),
                ("2001:db8::/32".to_owned(), "DE".to_owned()),
                ("0.0.0.0/0".to_owned(), "New York".to_owned()),
            ]
        );
    }

    #[test]
    fn every_wrong_line_is_told_with_its_number() {
        let text = "192.0.2.0/24 DE\n192.0.2.0/24 US\n192.0.2.1/24 US\n192.0.2.1 US\nhost DE\n10.0.0.0/8\n10.0.0.0/8 DE,,US\n10.0.0.0/33 DE\n";
        let problems = parse(text).unwrap_err();
        let lines: Vec<_> = problems.iter().map(|p| p.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8], "{problems:?}");
        assert!(problems[0].to_string().contains("line 1"), "{}", problems[0]);
        assert!(problems[1].message.contains("192.0.2.0/24"), "{}", problems[1]);
        assert!(problems[2].message.contains("192.0.2.1/32"), "{}", problems[2]);
        assert!(
            problems[5].message.contains("a target is missing"),
            "{}",
            problems[5]
        );
    }

    #[test]
    fn a_file_of_another_kind_is_told_by_its_first_lines() {
        let problems = parse(&"<html>\n".repeat(1000)).unwrap_err();
        assert_eq!((problems.len(), problems[19].line), (MAX_PROBLEMS, 20));
    }
}
