//! Counts what queries got and would get.

use gslb_api_types::{Preview, PreviewCountry, PreviewMove, PreviewOutcome, PreviewShare, ScriptTime};
use gslb_engine::decision::Outcome;
use gslb_engine::replay::{PastQuery, Replay, Replayed};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Moves that are listed.
const MOVES: usize = 50;

/// A count as it is, and as it would be.
type Pair = [u32; 2];

/// A move: from where, with its country, from what to what.
type Way = (String, Option<String>, [Vec<String>; 2]);

/// The counts.
#[derive(Default)]
pub(super) struct Tally {
    queries: u32,
    differ: u32,
    /// By name, with the region.
    members: BTreeMap<String, (Option<String>, Pair)>,
    regions: BTreeMap<String, Pair>,
    outcomes: [Pair; Outcome::COUNT],
    /// All, and those that differ.
    countries: BTreeMap<Option<String>, Pair>,
    moves: HashMap<Way, u32>,
    /// Ways to move, from what to what.
    ways: HashSet<[Vec<String>; 2]>,
    script_ns: Vec<u64>,
    script_errors: u32,
}

/// The answer as a trace tells it; nothing when it is the name of a member.
pub(super) fn told(answer: &Replayed) -> Option<Vec<String>> {
    if answer.addresses.is_empty() && !answer.members.is_empty() {
        return None;
    }
    Some(answer.addresses.iter().map(ToString::to_string).collect())
}

/// Names of what is in an answer, each with its region.
fn names(replay: &Replay<'_>, answer: &Replayed) -> Vec<(String, Option<String>)> {
    if answer.members.is_empty() {
        let addresses = answer.addresses.iter();
        return addresses.map(|address| (address.to_string(), None)).collect();
    }
    let members = answer.members.iter().filter_map(|index| replay.member(*index));
    members
        .map(|member| {
            let region = member.stored.region.to_string();
            (member.stored.endpoint.to_string(), Some(region))
        })
        .collect()
}

impl Tally {
    /// Counts a query; whether it moves in a way that none has before.
    pub(super) fn add(
        &mut self,
        query: &PastQuery,
        country: Option<String>,
        replays: [&Replay<'_>; 2],
        answers: &[Replayed; 2],
    ) -> bool {
        self.queries += 1;
        let mut ways: [Vec<String>; 2] = Default::default();
        let each = replays.into_iter().zip(answers).zip(&mut ways);
        for (side, ((replay, answer), way)) in each.enumerate() {
            bump(self.outcomes.get_mut(answer.outcome as usize), side);
            for (name, region) in names(replay, answer) {
                if let Some(region) = &region {
                    bump(Some(self.regions.entry(region.clone()).or_default()), side);
                }
                let member = self.members.entry(name.clone());
                let (known, pair) = member.or_default();
                *known = region.or(known.take());
                bump(Some(pair), side);
                way.push(name);
            }
        }
        let [_, after] = answers;
        self.script_ns.extend(after.script_ns);
        self.script_errors += u32::from(after.script_errors > 0);
        let differs = {
            let [before, after] = &ways;
            before != after
        };
        let of_country = self.countries.entry(country.clone()).or_default();
        bump(Some(&mut *of_country), 0);
        if !differs {
            return false;
        }
        bump(Some(of_country), 1);
        self.differ += 1;
        let is_new = self.ways.insert(ways.clone());
        let client = format!("{}/{}", query.network, query.bits);
        *self.moves.entry((client, country, ways)).or_default() += 1;
        is_new
    }

    /// The counts as they are told.
    pub(super) fn finish(mut self, queries: &[PastQuery]) -> Preview {
        let looked_at = queries.iter().rev().take(self.queries as usize);
        let times = || looked_at.clone().map(|query| query.at);
        let mut members: Vec<_> = self
            .members
            .into_iter()
            .map(|(name, (region, pair))| share(name, region, pair))
            .collect();
        let mut regions: Vec<_> = self
            .regions
            .into_iter()
            .map(|(name, pair)| share(name, None, pair))
            .collect();
        for list in [&mut members, &mut regions] {
            list.sort_by_key(|share| Reverse((share.before.max(share.after), share.before)));
        }
        let mut countries: Vec<_> = self
            .countries
            .into_iter()
            .map(|(country, [queries, differ])| PreviewCountry {
                country,
                queries,
                differ,
            })
            .collect();
        countries.sort_by_key(|country| Reverse(country.queries));
        let mut moves: Vec<_> = self
            .moves
            .into_iter()
            .map(|((client, country, [from, to]), queries)| PreviewMove {
                client,
                country,
                queries,
                from,
                to,
            })
            .collect();
        moves.sort_by(|a, b| {
            let names = |one: &PreviewMove| (one.client.clone(), one.from.clone(), one.to.clone());
            b.queries.cmp(&a.queries).then_with(|| names(a).cmp(&names(b)))
        });
        let more_moves = u32::try_from(moves.len().saturating_sub(MOVES)).unwrap_or(u32::MAX);
        moves.truncate(MOVES);
        let outcomes = Outcome::ALL.into_iter().zip(self.outcomes);
        Preview {
            queries: self.queries,
            since: times().min(),
            until: times().max(),
            differ: self.differ,
            members,
            regions,
            outcomes: outcomes
                .filter(|(_, pair)| *pair != [0, 0])
                .map(|(outcome, [before, after])| PreviewOutcome {
                    outcome,
                    before,
                    after,
                })
                .collect(),
            countries,
            moves,
            more_moves,
            script_time: script_time(&mut self.script_ns),
            script_errors: self.script_errors,
            ..Preview::default()
        }
    }
}

fn bump(pair: Option<&mut Pair>, side: usize) {
    if let Some(count) = pair.and_then(|pair| pair.get_mut(side)) {
        *count += 1;
    }
}

fn share(name: String, region: Option<String>, [before, after]: Pair) -> PreviewShare {
    PreviewShare {
        name,
        region,
        before,
        after,
    }
}

pub(super) fn script_time(ns: &mut [u64]) -> Option<ScriptTime> {
    ns.sort_unstable();
    // Of 100 the 99th (nearest rank).
    let rank = |percent: usize| (ns.len() * percent).div_ceil(100).checked_sub(1);
    let micros = |percent| Some(*ns.get(rank(percent)?)? as f64 / 1e3);
    Some(ScriptTime {
        p50_micros: micros(50)?,
        p99_micros: micros(99)?,
    })
}
