//! Answers by member over the last hour, for the console: the members' counters, looked at once a minute.

use gslb_engine::model::{MemberId, PoolId};
use gslb_engine::snapshot::{Snapshot, SnapshotCell};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Minutes kept.
pub const MINUTES: usize = 60;
/// Most members of one minute that are written down, so that the hour stays below 20 MB however many there are.
const MOST: usize = 10_000;

/// Answers of one minute, by member; members without any are left out.
type Minute = HashMap<MemberId, u64>;

/// The last hour.
#[derive(Debug, Default)]
pub struct ShareLog {
    minutes: Mutex<VecDeque<Minute>>,
}

impl ShareLog {
    /// Answers of each member of a pool, minute by minute, the oldest first.
    #[must_use]
    pub fn of(&self, snapshot: &Snapshot, pool: PoolId) -> Vec<(MemberId, Vec<u64>)> {
        let minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        let members = snapshot.pool(pool).into_iter().flat_map(|pool| &pool.members);
        members
            .map(|member| {
                let id = member.stored.id;
                let answers = minutes
                    .iter()
                    .map(|minute| minute.get(&id).copied().unwrap_or_default());
                (id, answers.collect())
            })
            .collect()
    }

    fn push(&self, minute: Minute) {
        let mut minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        minutes.push_back(minute);
        if minutes.len() > MINUTES {
            minutes.pop_front();
        }
    }

    /// Looks at the counters once a minute, for ever.
    pub async fn run(self: Arc<Self>, snapshot: Arc<SnapshotCell>) {
        let mut timer = tokio::time::interval(Duration::from_secs(60));
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        timer.tick().await;
        let mut before = totals(&snapshot.load());
        loop {
            timer.tick().await;
            let now = totals(&snapshot.load());
            self.push(difference(&before, &now));
            before = now;
        }
    }
}

fn totals(snapshot: &Snapshot) -> HashMap<MemberId, u64> {
    let members = snapshot.pools().flat_map(|pool| &pool.members);
    members
        .map(|member| (member.stored.id, member.slot.answers()))
        .filter(|(_, answers)| *answers > 0)
        .collect()
}

fn difference(before: &HashMap<MemberId, u64>, now: &HashMap<MemberId, u64>) -> Minute {
    let since = |(id, answers): (&MemberId, &u64)| {
        let known = before.get(id).copied().unwrap_or_default();
        (*id, answers.saturating_sub(known))
    };
    now.iter()
        .map(since)
        .filter(|(_, answers)| *answers > 0)
        .take(MOST)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> MemberId {
        MemberId(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn a_minute_is_the_difference_of_two_looks() {
        let before = HashMap::from([(id(1), 10), (id(2), 5)]);
        let now = HashMap::from([(id(1), 14), (id(2), 5), (id(3), 2)]);
        assert_eq!(difference(&before, &now), HashMap::from([(id(1), 4), (id(3), 2)]));
    }

    #[test]
    fn an_hour_is_kept() {
        let log = ShareLog::default();
        for number in 0..70 {
            log.push(HashMap::from([(id(1), number)]));
        }
        let minutes = log.minutes.lock().unwrap();
        assert_eq!(minutes.len(), MINUTES);
        assert_eq!(minutes.front().and_then(|minute| minute.get(&id(1))), Some(&10));
    }
}
