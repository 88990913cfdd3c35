//! The workers as processes.

use crate::support::{
    NOT_QUICK, candidates, endless, endless_limits, input, patient, program, run, with_limits, workers,
};
use gslb_engine::script::{Place, ScriptFailure, Scripts};
use gslb_script::{Limits, WorkerProgram, Workers};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Waits until `condition` holds.
fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{what} did not come about"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Waits until a killed process has let go of everything: only its entry in the table of processes may be left.
fn ended(pid: u32) {
    wait_for("the end of the worker", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
        let dead = stat
            .rsplit(") ")
            .next()
            .is_none_or(|rest| rest.is_empty() || rest.starts_with('Z'));
        (dead && threads <= 1).then_some(())
    });
}

fn all_ready(workers: &Workers) -> Vec<u32> {
    wait_for("ready workers", || {
        Some(workers.idle_workers()).filter(|idle| idle.len() == 4)
    })
}

#[test]
fn no_script_no_process() {
    assert_eq!(workers().idle_workers(), Vec::<u32>::new());
}

#[test]
fn workers_hold_their_socket_and_nothing_of_the_daemon() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let file = std::fs::File::open(program().path).unwrap();
    // Open to whatever this program starts, as what it was started with may be.
    let foreign = rustix::io::dup(&file).unwrap();
    assert!(
        !rustix::io::fcntl_getfd(&foreign)
            .unwrap()
            .contains(rustix::io::FdFlags::CLOEXEC)
    );
    let workers = workers();
    let _script = workers.compile("result = []", Place::Trial).unwrap();
    let held = |pid: &str| -> Vec<String> {
        let links = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        links
            .filter_map(|entry| Some(std::fs::read_link(entry.ok()?.path()).ok()?.display().to_string()))
            .collect()
    };
    let ours = held("self");
    let sockets = |held: &[String]| held.iter().filter(|link| link.starts_with("socket:")).count();
    for pid in all_ready(&workers) {
        let theirs = held(&pid.to_string());
        // Its end of the pair, as standard input and as what it works with.
        assert_eq!(sockets(&theirs), 2, "{theirs:?}");
        assert!(
            ours.iter()
                .filter(|link| link.starts_with("socket:"))
                .all(|link| !theirs.contains(link))
        );
        assert!(
            !theirs.contains(&program().path.display().to_string()),
            "{theirs:?}"
        );
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        for none in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            let line = status.lines().find(|line| line.starts_with(none)).unwrap();
            assert!(line.ends_with("\t0000000000000000"), "{line}");
        }
        assert!(status.contains("NoNewPrivs:\t1"), "{status}");
        let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        let core = limits
            .lines()
            .find(|line| line.starts_with("Max core file size"))
            .unwrap();
        assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        // Settings of the allocator, which every worker gets.
        assert_eq!(environment, b"_RJEM_MALLOC_CONF=narenas:1,retain:false\0");
    }
    drop((listener, file, foreign));
}

#[test]
fn a_worker_killed_while_idle_costs_no_query() {
    let workers = workers();
    let script = workers
        .compile(&format!("{NOT_QUICK}result = ['192.0.2.1']"), Place::Trial)
        .unwrap();
    let candidates = candidates(&["eu"]);
    for _ in 0..3 {
        let pids = all_ready(&workers);
        pids.iter().copied().for_each(kill);
        pids.into_iter().for_each(ended);
        assert_eq!(run(&*script, &input(&candidates)), Ok(vec![0]));
    }
}

#[test]
fn a_worker_killed_at_work_costs_its_own_query_only() {
    let workers = Arc::new(with_limits(endless_limits()));
    let endless = workers.compile(&endless(), Place::Trial).unwrap();
    let good = workers
        .compile(&format!("{NOT_QUICK}result = ['192.0.2.1']"), Place::Trial)
        .unwrap();
    let before = all_ready(&workers);
    let running = std::thread::spawn(move || {
        let candidates = candidates(&["eu"]);
        run(&*endless, &input(&candidates))
    });
    let busy = wait_for("a busy worker", || {
        let idle = workers.idle_workers();
        before.iter().copied().find(|pid| !idle.contains(pid))
    });
    kill(busy);
    assert!(matches!(running.join().unwrap(), Err(ScriptFailure::Stopped(_))));
    let candidates = candidates(&["eu"]);
    assert_eq!(run(&*good, &input(&candidates)), Ok(vec![0]));
    let after = all_ready(&workers);
    assert!(!after.contains(&busy), "it was replaced");
}

#[test]
fn workers_end_with_the_pool() {
    let workers = workers();
    let script = workers.compile("result = []", Place::Trial).unwrap();
    let pids = all_ready(&workers);
    drop(workers);
    for pid in pids {
        ended(pid);
    }
    // A script that outlives its workers fails open.
    let regions = vec!["x"; 250];
    let candidates = candidates(&regions);
    assert_eq!(run(&*script, &input(&candidates)), Err(ScriptFailure::Busy));
}

#[test]
fn workers_end_when_the_daemon_hangs_up() {
    let program = program();
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut child = std::process::Command::new(&program.path)
        .arg("2")
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(ours);
    wait_for("the end of the worker", || child.try_wait().unwrap());
}

#[test]
fn all_places_taken_is_busy_and_soon() {
    let limits = Limits {
        workers: 1,
        queue: Duration::from_millis(5),
        ..endless_limits()
    };
    let workers = Arc::new(with_limits(limits));
    let endless = workers.compile(&endless(), Place::Trial).unwrap();
    let good = workers
        .compile(&format!("{NOT_QUICK}result = ['192.0.2.1']"), Place::Trial)
        .unwrap();
    let before = wait_for("ready workers", || {
        Some(workers.idle_workers()).filter(|idle| idle.len() == 3)
    });
    let running = std::thread::spawn(move || {
        let candidates = candidates(&["eu"]);
        // The good one may have the place when this comes.
        loop {
            match run(&*endless, &input(&candidates)) {
                Err(ScriptFailure::Busy) => {}
                other => return other,
            }
        }
    });
    let candidates = candidates(&["eu"]);
    wait_for("a query that finds no place", || {
        (run(&*good, &input(&candidates)) == Err(ScriptFailure::Busy)).then_some(())
    });
    for _ in 0..20 {
        assert_eq!(run(&*good, &input(&candidates)), Err(ScriptFailure::Busy));
    }
    let idle = workers.idle_workers();
    let busy = before.into_iter().find(|pid| !idle.contains(pid)).unwrap();
    kill(busy);
    running.join().unwrap().unwrap_err();
    let order = wait_for("a free worker", || run(&*good, &input(&candidates)).ok());
    assert_eq!(order, [0], "being busy is not held against a script");
}

#[test]
fn no_script_takes_all_places() {
    let limits = Limits {
        // Those who wait for a place of the endless script do so until the test is over.
        queue: Duration::from_secs(100),
        ..endless_limits()
    };
    let workers = Arc::new(with_limits(limits));
    let endless = workers.compile(&endless(), Place::Trial).unwrap();
    let good = workers
        .compile(&format!("{NOT_QUICK}result = ['192.0.2.1']"), Place::Trial)
        .unwrap();
    let before = all_ready(&workers);
    let asking: Vec<_> = (0..8)
        .map(|_| {
            let endless = Arc::clone(&endless);
            std::thread::spawn(move || run(&*endless, &input(&candidates(&["eu"]))))
        })
        .collect();
    let busy = wait_for("a busy worker", || {
        let idle = workers.idle_workers();
        before.iter().copied().find(|pid| !idle.contains(pid))
    });
    let candidates = candidates(&["eu"]);
    for _ in 0..100 {
        assert_eq!(run(&*good, &input(&candidates)), Ok(vec![0]));
    }
    let idle = workers.idle_workers();
    let all_busy: Vec<u32> = before.into_iter().filter(|pid| !idle.contains(pid)).collect();
    assert_eq!(
        all_busy,
        [busy],
        "the endless script has one place, and had it all the time"
    );
    // Whoever waits for the other place is sent away, and the one who has it ends.
    drop(workers);
    kill(busy);
    let mut failures: Vec<_> = asking
        .into_iter()
        .map(|one| one.join().unwrap().unwrap_err())
        .collect();
    failures.retain(|failure| *failure != ScriptFailure::Busy);
    assert!(
        matches!(failures[..], [ScriptFailure::Stopped(_)]),
        "{failures:?}"
    );
}

#[test]
fn a_program_that_is_no_worker_fails_open() {
    let program = WorkerProgram {
        path: "/bin/false".into(),
        arguments: Vec::new(),
    };
    let limits = Limits {
        compile_queue: Duration::from_millis(100),
        ..patient()
    };
    let workers = Workers::with(program, limits, Arc::new(|| Duration::ZERO));
    let error = workers
        .compile("result = []", Place::Trial)
        .map(|_| ())
        .unwrap_err();
    assert!(error.message.contains("no worker was free"), "{error}");
}

#[test]
fn many_threads_at_once_each_get_their_own_answer() {
    let workers = workers();
    let scripts: Vec<_> = (1..=6)
        .map(|n| {
            let body = format!("{NOT_QUICK}result = ['192.0.2.{n}' for c in candidates]");
            workers.compile(&body, Place::Trial).unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let regions = ["eu"; 6];
                let candidates = candidates(&regions);
                for _ in 0..50 {
                    for (expected, script) in scripts.iter().enumerate() {
                        assert_eq!(
                            run(&**script, &input(&candidates)),
                            Ok(vec![u16::try_from(expected).unwrap()])
                        );
                    }
                }
            });
        }
    });
}

#[test]
fn more_scripts_than_a_worker_keeps() {
    let workers = workers();
    let scripts: Vec<_> = (0..70)
        .map(|n| {
            workers
                .compile(
                    &format!("{NOT_QUICK}n = {n}\nresult = ['192.0.2.1']"),
                    Place::Trial,
                )
                .unwrap()
        })
        .collect();
    let candidates = candidates(&["eu"]);
    for script in scripts.iter().chain(&scripts) {
        assert_eq!(run(&**script, &input(&candidates)), Ok(vec![0]));
    }
}

#[test]
fn what_a_worker_has_compiled_before_is_not_held_against_the_next_script() {
    let workers = with_limits(Limits {
        workers: 1,
        ..patient()
    });
    let filler = "x = [1, 2, 3, 4, 5, 6, 7, 8, 9, \"a\", \"b\", qname]\n".repeat(60);
    let scripts: Vec<_> = (0..40)
        .map(|number| {
            let body = format!("{NOT_QUICK}{filler}y = {number}\nresult = [c[\"ip\"] for c in candidates]");
            workers
                .compile(&body, Place::Trial)
                .unwrap_or_else(|error| panic!("script {number}: {error}"))
        })
        .collect();
    let candidates = candidates(&["eu"]);
    for (number, script) in scripts.iter().enumerate() {
        let found = run(&**script, &input(&candidates));
        assert_eq!(found, Ok(vec![0]), "script {number}");
    }
}

#[test]
fn scripts_that_were_stopped_take_not_all_places_between_them() {
    let limits = Limits {
        queue: Duration::from_secs(100),
        ..endless_limits()
    };
    let workers = Arc::new(with_limits(limits));
    let ask = |script: &Arc<dyn gslb_engine::script::Script>| {
        let script = Arc::clone(script);
        std::thread::spawn(move || run(&*script, &input(&candidates(&["eu"]))))
    };
    let busy = |before: &[u32]| -> Vec<u32> {
        let idle = workers.idle_workers();
        before.iter().copied().filter(|pid| !idle.contains(pid)).collect()
    };
    // Each is another text, and so has a place of its own.
    let endless: Vec<_> = (0..3)
        .map(|number| {
            let body = format!("# {number}\n{}", endless());
            workers.compile(&body, Place::Trial).unwrap()
        })
        .collect();
    for script in &endless {
        let before = all_ready(&workers);
        let asking = ask(script);
        let pid = wait_for("a busy worker", || busy(&before).first().copied());
        kill(pid);
        let failure = asking.join().unwrap().unwrap_err();
        assert!(matches!(failure, ScriptFailure::Stopped(_)), "{failure:?}");
    }
    let good = workers
        .compile(&format!("{NOT_QUICK}result = ['192.0.2.1']"), Place::Trial)
        .unwrap();
    let before = all_ready(&workers);
    let asking: Vec<_> = endless.iter().map(ask).collect();
    let first = wait_for("a busy worker", || busy(&before).first().copied());
    let candidates = candidates(&["eu"]);
    for _ in 0..100 {
        assert_eq!(run(&*good, &input(&candidates)), Ok(vec![0]));
    }
    assert_eq!(busy(&before), [first], "one place for the three of them");
    drop(good);
    let others = endless.len() - 1;
    drop(endless);
    drop(workers);
    kill(first);
    let failures: Vec<_> = asking
        .into_iter()
        .map(|one| one.join().unwrap().unwrap_err())
        .collect();
    let sent_away = failures
        .iter()
        .filter(|failure| **failure == ScriptFailure::Busy)
        .count();
    assert_eq!(sent_away, others, "{failures:?}");
}
