//! Runs a compiled script for one query.

use crate::program::Program;
use crate::quick;
use crate::stopwatch::Stopwatch;
use gslb_engine::query::Family;
use gslb_engine::script::{ScriptCandidate, ScriptFailure, ScriptInput};
use starlark::codemap::FileSpanRef;
use starlark::collections::SmallMap;
use starlark::const_frozen_string;
use starlark::environment::Module;
use starlark::eval::{BeforeStmtFunc, BeforeStmtFuncDyn, Evaluator};
use starlark::values::dict::Dict;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::{FrozenStringValue, Heap, Value};
use starlark::{ErrorKind, PrintHandler};
use std::net::IpAddr;
use std::time::Duration;

/// What a run may use. What has to hold for any script holds by the walls of a worker process: the interpreter looks at
/// all but the depth of calls every thousand steps, or before each statement, and one operation can be long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Calls and turns of loops.
    pub ticks: u64,
    /// Bytes of values, the script's input not among them.
    pub heap: usize,
    /// Calls inside one another.
    pub calls: usize,
    /// Of the processor, not on the clock. What is done is not thrown away because somebody else had the processor
    /// meanwhile: the interpreter looks at the very end as well.
    pub time: Duration,
}

impl Budget {
    /// On the caller's thread, for a script that is proven to take so many steps at most. The proof counts more than any
    /// run does: whatever comes here has found a hole in it.
    pub(crate) fn proven(steps: u16, time: Duration) -> Self {
        Self {
            ticks: u64::from(steps),
            heap: usize::from(steps) * quick::STEP_BYTES,
            calls: 32,
            time,
        }
    }

    /// In a worker process.
    pub(crate) fn isolated(time: Duration) -> Self {
        Self {
            ticks: 1_000_000,
            heap: 4 << 20,
            calls: 64,
            time,
        }
    }
}

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub ticks: u64,
    /// Bytes of values that the script has made.
    pub heap: usize,
    /// More than it may.
    pub over: bool,
}

/// Looks at what a run has used before each of its statements, if the program was compiled for that.
struct Guard {
    ticks: u64,
    heap: usize,
    watch: Stopwatch,
    time: Duration,
    statements: u8,
}

/// Statements between two looks at the clock.
const CLOCK_EVERY: u8 = 16;

impl<'e> BeforeStmtFuncDyn<'e> for Guard {
    fn call<'v>(
        &mut self,
        _: FileSpanRef<'_>,
        _: bool,
        evaluator: &mut Evaluator<'v, '_, 'e>,
    ) -> starlark::Result<()> {
        self.statements = self.statements.wrapping_add(1);
        let over = evaluator.get_total_tick_count() > self.ticks
            || evaluator.heap().allocated_bytes() > self.heap
            || (self.statements.is_multiple_of(CLOCK_EVERY) && self.watch.exceeds(self.time));
        if over {
            Err(starlark::Error::new_other(Over))
        } else {
            Ok(())
        }
    }
}

/// Why a run ends that has used more than it may.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("more than was allowed for")]
struct Over;

/// `print` prints nothing.
pub(crate) struct Silent;

impl PrintHandler for Silent {
    fn println(&self, _text: &str) -> starlark::Result<()> {
        Ok(())
    }
}

/// Runs `program`; `order` is emptied and receives positions of candidates.
///
/// # Errors
/// The script failed or used up its budget.
pub(crate) fn run(
    program: &Program,
    input: &ScriptInput<'_>,
    budget: Budget,
    order: &mut Vec<u16>,
) -> (Result<(), ScriptFailure>, Usage) {
    order.clear();
    Module::with_temp_heap(|module| {
        let watch = Stopwatch::start();
        let heap = module.heap();
        let arguments = arguments(heap, input);
        let given = heap.allocated_bytes();
        let most = given.saturating_add(budget.heap);
        let mut evaluator = Evaluator::new(&module);
        evaluator.set_print_handler(&Silent);
        let set = evaluator
            .set_max_tick_count(budget.ticks.max(1))
            .and_then(|()| evaluator.set_max_heap_size(most))
            .and_then(|()| evaluator.set_max_callstack_size(budget.calls));
        if set.is_err() {
            let failure = ScriptFailure::Failed("the limits could not be set".to_owned());
            return (Err(failure), Usage::default());
        }
        let time = budget.time;
        evaluator.set_check_cancelled(Box::new(move || watch.exceeds(time)));
        if program.guarded {
            evaluator.before_stmt_for_dap(BeforeStmtFunc::from_dyn(Box::new(Guard {
                ticks: budget.ticks,
                heap: most,
                watch,
                time,
                statements: 0,
            })));
        }
        let function = heap.access_owned_frozen_value(&program.function);
        let result = evaluator.eval_function(function, &arguments, &[]);
        let mut usage = Usage {
            ticks: evaluator.get_total_tick_count(),
            heap: heap.peak_allocated_bytes().saturating_sub(given),
            over: false,
        };
        let slow = result.is_err() && watch.exceeds(time);
        usage.over = slow || usage.ticks > budget.ticks || usage.heap > budget.heap;
        let result = result.map_err(|error| {
            if slow {
                ScriptFailure::Stopped("its time is over".to_owned())
            } else if matches!(error.kind(), ErrorKind::StackOverflow(_)) {
                ScriptFailure::Stopped(format!("more than {} calls inside one another", budget.calls))
            } else if usage.ticks > budget.ticks {
                ScriptFailure::Stopped(format!("more than {} steps", budget.ticks))
            } else if usage.heap > budget.heap {
                ScriptFailure::Stopped(format!("more than {} KiB of memory", budget.heap >> 10))
            } else {
                ScriptFailure::Failed(program.explain(&error))
            }
        });
        (
            result.and_then(|result| read(result, input.candidates, order)),
            usage,
        )
    })
}

/// The arguments, in the order of [`crate::program::PARAMETERS`].
fn arguments<'v>(heap: Heap<'v>, input: &ScriptInput<'_>) -> [Value<'v>; 8] {
    let country = input
        .client_country
        .as_ref()
        .map_or("", |country| country.as_str());
    let qtype = match input.qtype {
        Family::V4 => const_frozen_string!("A").to_value(),
        Family::V6 => const_frozen_string!("AAAA").to_value(),
    };
    [
        heap.alloc(input.qname),
        qtype,
        address(heap, input.client_ip),
        heap.alloc(country),
        heap.alloc(input.client_asn),
        heap.alloc(input.now),
        heap.alloc(input.service),
        heap.alloc(AllocList(input.candidates.iter().map(|one| candidate(heap, one)))),
    ]
}

fn candidate<'v>(heap: Heap<'v>, one: &ScriptCandidate<'_>) -> Value<'v> {
    fn put<'v>(map: &mut SmallMap<Value<'v>, Value<'v>>, key: FrozenStringValue, value: Value<'v>) {
        let key = key.get_hashed_value();
        map.insert_hashed_unique_unchecked(
            starlark::collections::Hashed::new_unchecked(key.hash(), key.key().to_value()),
            value,
        );
    }
    let mut map = SmallMap::with_capacity(8);
    put(&mut map, const_frozen_string!("ip"), address(heap, one.ip));
    put(
        &mut map,
        const_frozen_string!("port"),
        heap.alloc(i32::from(one.port)),
    );
    put(&mut map, const_frozen_string!("region"), heap.alloc(one.region));
    put(&mut map, const_frozen_string!("weight"), heap.alloc(one.weight));
    put(
        &mut map,
        const_frozen_string!("priority"),
        heap.alloc(one.priority),
    );
    put(&mut map, const_frozen_string!("asn"), heap.alloc(one.asn));
    put(
        &mut map,
        const_frozen_string!("health_score"),
        heap.alloc(one.health_score),
    );
    put(
        &mut map,
        const_frozen_string!("rtt_ms"),
        heap.alloc(one.rtt_ms.unwrap_or(f64::INFINITY)),
    );
    heap.alloc(Dict::new(map))
}

/// The text of an address, without a string in between.
fn address(heap: Heap<'_>, ip: IpAddr) -> Value<'_> {
    use std::io::Write;
    let mut buffer = [0_u8; 48];
    let mut rest = &mut buffer[..];
    // Fits: an address has at most 45 letters.
    let _ = write!(rest, "{ip}");
    let left = rest.len();
    let text = buffer
        .get(..buffer.len() - left)
        .and_then(|written| std::str::from_utf8(written).ok());
    heap.alloc(text.unwrap_or_default())
}

/// Positions that `result` names. What is no candidate's address is dropped, and so are repeats.
fn read(
    result: Value<'_>,
    candidates: &[ScriptCandidate<'_>],
    order: &mut Vec<u16>,
) -> Result<(), ScriptFailure> {
    let Some(list) = ListRef::from_value(result) else {
        return Err(ScriptFailure::Failed(format!(
            "`result` is no list of addresses, but of type {}",
            result.get_type()
        )));
    };
    let mut taken = vec![false; candidates.len()];
    // Most scripts keep the order they got: look behind the last found first.
    let mut next = 0;
    for value in list.iter() {
        let Some(ip) = value.unpack_str().and_then(|text| text.parse::<IpAddr>().ok()) else {
            continue;
        };
        let behind = candidates.iter().enumerate().skip(next);
        let before = candidates.iter().enumerate().take(next);
        let Some(found) = behind
            .chain(before)
            .find(|(_, candidate)| candidate.ip == ip)
            .map(|(found, _)| found)
        else {
            continue;
        };
        next = found + 1;
        let Some(seen) = taken.get_mut(found) else {
            continue;
        };
        if !std::mem::replace(seen, true)
            && let Ok(position) = u16::try_from(found)
        {
            order.push(position);
        }
    }
    if order.is_empty() {
        Err(ScriptFailure::NamesNobody)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Checked;

    fn use_up(body: &str, steps: u16, time: Duration) -> (Result<(), ScriptFailure>, Usage) {
        let candidates = [ScriptCandidate {
            ip: [192, 0, 2, 1].into(),
            port: 80,
            region: "eu",
            weight: 1,
            priority: 1,
            asn: 64500,
            health_score: 1.0,
            rtt_ms: None,
        }];
        let input = ScriptInput {
            qname: "www.example.com.",
            qtype: Family::V4,
            client_ip: [198, 51, 100, 7].into(),
            client_country: None,
            client_asn: 0,
            now: 1_700_000_000,
            service: "www",
            candidates: &candidates,
            arrived: None,
        };
        let program = Checked::new(body).unwrap().compile(true).unwrap();
        run(&program, &input, Budget::proven(steps, time), &mut Vec::new())
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn what_outgrows_its_proof_is_stopped_before_its_next_statement() {
        // Thirty steps, and gigabytes: the interpreter by itself looks every thousand steps.
        let body = "x = [now]\nfor i in range(40):\n    x = x + x\nresult = x";
        let (result, usage) = use_up(body, 100, LONG);
        assert!(matches!(result, Err(ScriptFailure::Stopped(_))), "{result:?}");
        assert!(usage.over && usage.heap < 1 << 20, "{usage:?}");
        assert!(usage.ticks < 40, "{usage:?}");
    }

    #[test]
    fn more_steps_than_proven_are_stopped_before_the_next_statement() {
        let body = "n = 0\nfor i in range(900):\n    n += 1\nresult = [\"192.0.2.1\"]";
        let (result, usage) = use_up(body, 50, LONG);
        assert_eq!(
            result,
            Err(ScriptFailure::Stopped("more than 50 steps".to_owned()))
        );
        assert!(usage.over && usage.ticks < 60, "{usage:?}");
        let (result, usage) = use_up(body, 1000, LONG);
        assert!(result.is_ok() && !usage.over, "{result:?} {usage:?}");
    }

    #[test]
    fn more_time_than_any_proof_allows_for_is_stopped() {
        let body = "for i in range(300):\n    x = max(range(20000 + i % 2))\nresult = [\"192.0.2.1\"]";
        let (result, usage) = use_up(body, 6000, Duration::from_millis(1));
        assert_eq!(result, Err(ScriptFailure::Stopped("its time is over".to_owned())));
        assert!(usage.over && usage.ticks < 600, "{usage:?}");
    }
}
