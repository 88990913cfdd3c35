//! The known name nearest to a mistyped one.

use strsim::osa_distance;

/// Without what people leave out or put in by habit: case, hyphens, underscores, spaces.
fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The candidate that `text` is most likely meant to be; `None` when nothing is near. Near is what at most half of the
/// candidate's letters, and two of a short one's, are inserted, deleted, replaced or swapped in.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = plain(text);
    candidates
        .into_iter()
        .map(|candidate| (osa_distance(&text, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(4) / 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_meant_is_found() {
        let names = [
            "port",
            "listenAddr",
            "round-robin",
            "weighted-round-robin",
            "geo-ip",
        ];
        for (text, meant) in [
            ("prot", Some("port")),
            ("listenAdr", Some("listenAddr")),
            ("roundrobin", Some("round-robin")),
            ("Weighted_Round_Robin", Some("weighted-round-robin")),
            ("geoip", Some("geo-ip")),
            ("banana", None),
        ] {
            assert_eq!(nearest(text, names), meant, "{text}");
        }
    }
}
