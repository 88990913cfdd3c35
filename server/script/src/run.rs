//! Runs a compiled script for one query.

use crate::program::Program;
use gslb_engine::query::Family;
use gslb_engine::script::{ScriptCandidate, ScriptFailure, ScriptInput};
use starlark::collections::SmallMap;
use starlark::const_frozen_string;
use starlark::environment::Module;
use starlark::eval::Evaluator;
use starlark::values::dict::Dict;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::{FrozenStringValue, Heap, Value};
use starlark::{ErrorKind, PrintHandler};
use std::cell::Cell;
use std::net::IpAddr;
use std::time::Duration;
use std::time::Instant;

/// What a run may use. The interpreter looks at all but the depth of calls every thousand steps only, and one step can
/// be long: what has to hold for any script holds by the walls of a worker process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Calls and turns of loops.
    pub ticks: u64,
    /// Bytes of values.
    pub heap: usize,
    /// Calls inside one another.
    pub calls: usize,
    /// None for scripts that are proven quick: the interpreter looks at the clock at the very end too, and would then
    /// throw away what is done because somebody else had the processor meanwhile.
    pub time: Option<Duration>,
}

impl Budget {
    /// For scripts proven quick, on the caller's thread.
    pub(crate) const QUICK: Self = Self {
        ticks: 20_000,
        heap: 1 << 20,
        calls: 32,
        time: None,
    };
    /// In a worker process.
    pub(crate) const ISOLATED: Self = Self {
        ticks: 1_000_000,
        heap: 4 << 20,
        calls: 64,
        time: None,
    };
}

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
) -> Result<(), ScriptFailure> {
    order.clear();
    Module::with_temp_heap(|module| {
        let late = Cell::new(false);
        let mut evaluator = Evaluator::new(&module);
        evaluator.set_print_handler(&Silent);
        let unset = |_| ScriptFailure::Failed("the limits could not be set".to_owned());
        evaluator.set_max_tick_count(budget.ticks).map_err(unset)?;
        evaluator.set_max_heap_size(budget.heap).map_err(unset)?;
        evaluator.set_max_callstack_size(budget.calls).map_err(unset)?;
        if let Some(time) = budget.time {
            let begin = Instant::now();
            let late = &late;
            evaluator.set_check_cancelled(Box::new(move || {
                let over = begin.elapsed() > time;
                late.set(over);
                over
            }));
        }
        let heap = module.heap();
        let function = heap.access_owned_frozen_value(&program.function);
        let result = evaluator
            .eval_function(function, &arguments(heap, input), &[])
            .map_err(|error| {
                if late.get() {
                    ScriptFailure::Stopped("its time is over".to_owned())
                } else if matches!(error.kind(), ErrorKind::StackOverflow(_)) {
                    ScriptFailure::Stopped(format!("more than {} calls inside one another", budget.calls))
                } else if evaluator.get_total_tick_count() > budget.ticks {
                    ScriptFailure::Stopped(format!("more than {} steps", budget.ticks))
                } else if heap.peak_allocated_bytes() > budget.heap {
                    ScriptFailure::Stopped(format!("more than {} KiB of memory", budget.heap >> 10))
                } else {
                    ScriptFailure::Failed(program.explain(&error))
                }
            })?;
        read(result, input.candidates, order)
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
