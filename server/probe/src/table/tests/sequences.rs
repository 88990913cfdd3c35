//! Invariants under random sequences of everything that can happen.

use super::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Pass(u64),
    Start,
    End(usize, bool),
    Set(Vec<(u128, u16, u32)>),
}

fn step() -> impl Strategy<Value = Step> {
    let target = (0_u128..6, 80_u16..83, prop_oneof![Just(100_u32), Just(250)]);
    prop_oneof![
        3 => (0_u64..200).prop_map(Step::Pass),
        3 => Just(Step::Start),
        3 => (0_usize..6, any::<bool>()).prop_map(|(i, ok)| Step::End(i, ok)),
        1 => prop::collection::vec(target, 0..6).prop_map(Step::Set),
    ]
}

proptest! {
    /// Whatever happens in whatever order: one at a time, never faster than the interval, only what is wanted, and
    /// nothing is ever forgotten.
    #[test]
    fn the_rules_hold_under_any_sequence(steps in prop::collection::vec(step(), 0..120)) {
        let mut w = World::new();
        let mut flying: Vec<Job> = Vec::new();
        let mut last_start: HashMap<ProbeId, Instant> = HashMap::new();
        let mut wanted = 0;
        for step in steps {
            match step {
                Step::Pass(ms) => w.pass(ms),
                Step::Set(set) => {
                    let targets: Vec<_> = set.iter().map(|(m, port, i)| target(*m, *port, tcp(*i))).collect();
                    wanted = targets.iter().map(|t| t.member_id).collect::<HashSet<_>>().len();
                    w.set(&targets);
                }
                Step::End(i, ok) if !flying.is_empty() => {
                    let job = flying.swap_remove(i % flying.len());
                    w.end(&job, ok);
                }
                Step::End(..) => {}
                Step::Start => {
                    let jobs = w.table.take_due(w.now, 4);
                    for job in jobs {
                        prop_assert!(w.table.entries.contains_key(&job.id), "not wanted");
                        prop_assert!(job.due <= w.now);
                        prop_assert!(flying.iter().all(|f| f.id != job.id), "twice at a time");
                        if let Some(last) = last_start.insert(job.id, w.now) {
                            prop_assert!(w.now - last >= interval(&job.record), "too fast");
                        }
                        flying.push(job);
                    }
                    prop_assert!(flying.len() <= 4);
                    let overdue = w.table.first_due().is_some_and(|due| due <= w.now);
                    prop_assert!(flying.len() == 4 || !overdue, "room, and one is due");
                }
            }
            prop_assert_eq!(w.table.running, flying.len());
            prop_assert_eq!(w.table.by_member.len(), wanted);
            let alive = flying.iter().filter(|f| w.table.entries.contains_key(&f.id)).count();
            prop_assert_eq!(w.table.queue.len() + alive, w.table.len(), "each waits or is on its way");
            prop_assert_eq!(w.table.by_key.len(), w.table.len());
            let statuses = statuses(&w.table.records());
            prop_assert_eq!(statuses.len(), wanted);
        }
    }
}
