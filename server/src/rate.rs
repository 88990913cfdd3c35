//! Queries a second over the last minutes, for the dashboard: the DNS counters, looked at once a second.

use gslb_api_types::RatePoint;
use gslb_dns::DnsStats;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::broadcast;

/// Points kept: five minutes.
const KEPT: usize = 300;

/// The last points, and a stream of new ones.
#[derive(Debug)]
pub struct RateLog {
    points: Mutex<VecDeque<RatePoint>>,
    stream: broadcast::Sender<RatePoint>,
}

/// Counters of one look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    queries: u64,
    answered: u64,
    no_data: u64,
    missing: u64,
}

impl Default for RateLog {
    fn default() -> Self {
        Self {
            points: Mutex::default(),
            stream: broadcast::channel(16).0,
        }
    }
}

impl RateLog {
    /// The last points, oldest first.
    #[must_use]
    pub fn points(&self) -> Vec<RatePoint> {
        self.points
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .copied()
            .collect()
    }

    /// New points as they come.
    pub fn subscribe(&self) -> broadcast::Receiver<RatePoint> {
        self.stream.subscribe()
    }

    fn push(&self, point: RatePoint) {
        {
            let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
            points.push_back(point);
            if points.len() > KEPT {
                points.pop_front();
            }
        }
        // Nobody listens: then nobody wants it.
        let _ = self.stream.send(point);
    }

    /// Looks at the counters once a second, for ever.
    pub async fn run(self: Arc<Self>, stats: Arc<DnsStats>) {
        let mut timer = tokio::time::interval(Duration::from_secs(1));
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut before = totals(&stats);
        loop {
            timer.tick().await;
            let now = totals(&stats);
            let at = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |d| d.as_secs());
            self.push(difference(at, before, now));
            before = now;
        }
    }
}

fn totals(stats: &DnsStats) -> Totals {
    let counts = stats.snapshot();
    let no_error = counts.responses_of("NOERROR");
    Totals {
        queries: counts.responses.iter().flatten().sum(),
        answered: no_error.saturating_sub(counts.no_data),
        no_data: counts.no_data,
        missing: counts.responses_of("NXDOMAIN"),
    }
}

fn difference(at: u64, before: Totals, now: Totals) -> RatePoint {
    let less = |now: u64, before: u64| now.saturating_sub(before);
    let point = RatePoint {
        at,
        queries: less(now.queries, before.queries),
        answered: less(now.answered, before.answered),
        no_data: less(now.no_data, before.no_data),
        missing: less(now.missing, before.missing),
        refused: 0,
    };
    RatePoint {
        refused: less(point.queries, point.answered + point.no_data + point.missing),
        ..point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_the_difference_of_two_looks() {
        let before = Totals {
            queries: 100,
            answered: 80,
            no_data: 10,
            missing: 5,
        };
        let now = Totals {
            queries: 120,
            answered: 90,
            no_data: 12,
            missing: 7,
        };
        let point = difference(7, before, now);
        assert_eq!(
            point,
            RatePoint {
                at: 7,
                queries: 20,
                answered: 10,
                no_data: 2,
                missing: 2,
                refused: 6
            }
        );
    }

    #[test]
    fn only_the_last_points_are_kept() {
        let log = RateLog::default();
        for at in 0..400 {
            log.push(RatePoint {
                at,
                ..RatePoint::default()
            });
        }
        let points = log.points();
        assert_eq!(points.len(), KEPT);
        assert_eq!(points.first().map(|p| p.at), Some(100));
    }
}
