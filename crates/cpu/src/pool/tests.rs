//! Every task is done once, by whichever thread, whatever happens around it.

use super::*;
use crate::tests::in_a_child;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn pool(threads: usize) -> Pool {
    Pool::new(NonZeroUsize::new(threads))
}

/// Runs `tasks` tasks and checks that each was done exactly once, by a worker with a number of its own.
fn check(pool: &Pool, tasks: usize) {
    let done: Vec<AtomicU32> = (0..tasks).map(|_| AtomicU32::new(0)).collect();
    let at_work: Vec<AtomicBool> = (0..pool.threads()).map(|_| AtomicBool::new(false)).collect();
    pool.run(tasks, &|worker, begin, end| {
        assert!(begin < end && end <= tasks);
        assert!(!at_work[worker].swap(true, Ordering::SeqCst), "worker {worker} is two threads");
        for task in &done[begin..end] {
            task.fetch_add(1, Ordering::Relaxed);
        }
        at_work[worker].store(false, Ordering::SeqCst);
    });
    assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
}

/// Tries until it comes true, which it must, but on a busy machine not at once.
fn eventually(mut comes_true: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !comes_true() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not come true");
    }
}

#[test]
fn every_task_is_done_once() {
    for threads in [1, 2, 3, 8] {
        let pool = pool(threads);
        assert_eq!(pool.threads(), threads);
        for tasks in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097] {
            check(&pool, tasks);
        }
    }
}

#[test]
fn pieces_get_smaller_towards_the_end() {
    let job = job::Job::new(1000, 2, &|_, _, _| {});
    let pieces: Vec<usize> = std::iter::from_fn(|| job.take()).map(|(begin, end)| end - begin).collect();
    assert_eq!(pieces.iter().sum::<usize>(), 1000);
    assert_eq!(pieces[..3], [250, 188, 141]);
    assert!(
        pieces.is_sorted_by(|a, b| a >= b) && pieces.last() <= Some(&8) && pieces.len() < 20,
        "{pieces:?}"
    );
}

#[test]
fn many_short_calls_in_a_row() {
    let pool = pool(4);
    for round in 0..20_000 {
        check(&pool, 1 + round % 40);
    }
}

/// Binds this thread to the processor that it runs on.
fn bind() -> usize {
    // SAFETY: the set is plain bits and has one for each processor that this thread may run on.
    unsafe {
        let here = libc::sched_getcpu() as usize;
        let mut only: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(here, &mut only);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&only), &only), 0);
        here
    }
}

#[test]
fn workers_are_woken_off_the_processor_of_their_caller() {
    let allowed = affinity::allowed().expect("a mask");
    // SAFETY: counts the bits of an initialised set.
    if unsafe { libc::CPU_COUNT(&allowed) } < 2 {
        return;
    }
    let call = || {
        let pool = pool(2);
        pool.run(2, &|_, _, _| {});
        let here = bind();
        eventually(|| {
            std::thread::sleep(Duration::from_millis(5));
            let kept_off = AtomicBool::new(false);
            pool.run(16, &|worker, _, _| {
                let may_run = affinity::allowed().expect("a mask");
                // SAFETY: looks at a bit of an initialised set.
                if worker == 1 && !unsafe { libc::CPU_ISSET(here, &may_run) } {
                    kept_off.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(2));
            });
            kept_off.into_inner()
        });
    };
    // A thread of its own, as it stays bound.
    std::thread::spawn(call).join().expect("the worker was kept off");
}

#[test]
fn calls_after_a_rest_wake_the_workers() {
    let pool = pool(2);
    for _ in 0..5 {
        eventually(|| {
            std::thread::sleep(Duration::from_millis(5));
            let workers = Mutex::new(std::collections::BTreeSet::new());
            // Each piece lasts long enough for the other worker to wake and take one.
            pool.run(16, &|worker, _, _| {
                workers.lock().expect("not poisoned").insert(worker);
                std::thread::sleep(Duration::from_millis(2));
            });
            workers.into_inner().expect("not poisoned").len() == 2
        });
    }
}

#[test]
fn counts_near_the_limit_of_the_integer_do_not_overflow() {
    let covered = AtomicUsize::new(0);
    pool(3).run(usize::MAX, &|_, begin, end| {
        covered.fetch_add(end - begin, Ordering::Relaxed);
    });
    assert_eq!(covered.into_inner(), usize::MAX);
}

#[test]
fn many_threads_may_call_at_once() {
    let pool = pool(3);
    std::thread::scope(|scope| {
        for caller in 0..8 {
            let pool = &pool;
            scope.spawn(move || (0..500).for_each(|round| check(pool, 1 + (caller + round) % 50)));
        }
    });
}

#[test]
fn a_task_may_call_the_pool() {
    let pool = pool(3);
    let inner = AtomicUsize::new(0);
    pool.run(20, &|_, begin, end| {
        for _ in begin..end {
            pool.run(10, &|_, begin, end| {
                inner.fetch_add(end - begin, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(inner.into_inner(), 200);
}

#[test]
fn a_panic_reaches_the_caller_after_all_have_stopped_and_the_pool_lives_on() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for bad in [0, 17, 99] {
            let inside = AtomicUsize::new(0);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                pool.run(100, &|_, begin, end| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    if (begin..end).contains(&bad) {
                        inside.fetch_sub(1, Ordering::SeqCst);
                        panic!("task {bad} is planted to fail");
                    }
                    std::thread::sleep(Duration::from_micros(50));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }));
            let payload = outcome.expect_err("the panic arrives");
            let message = payload.downcast_ref::<String>().expect("with its message");
            assert!(message.starts_with(&format!("task {bad}")));
            assert_eq!(inside.into_inner(), 0);
            check(&pool, 100);
        }
    }
}

#[test]
fn a_dropped_pool_ends_its_threads() {
    thread_local!(static ALIVE: RefCell<Option<Arc<()>>> = const { RefCell::new(None) });
    let alive = Arc::new(());
    for _ in 0..20 {
        let pool = pool(4);
        eventually(|| {
            pool.run(8, &|worker, _, _| {
                if worker > 0 {
                    ALIVE.set(Some(Arc::clone(&alive)));
                }
                std::thread::sleep(Duration::from_millis(1));
            });
            Arc::strong_count(&alive) == 4
        });
        drop(pool);
        assert_eq!(Arc::strong_count(&alive), 1, "a thread lets go of what is its own when it ends");
    }
}

#[test]
fn a_forked_child_gets_workers_of_its_own() {
    let (kept, dropped) = (pool(4), pool(4));
    check(&kept, 1000);
    check(&dropped, 1000);
    in_a_child(|| {
        (0..50).for_each(|round| check(&kept, 100 + round));
        drop(dropped);
    });
    check(&kept, 1000);
}

/// Runs a job whose worker waits until the caller, which has nothing left to do, does `meanwhile`; again if the worker came too
/// late.
fn while_a_worker_waits(pool: &Pool, meanwhile: &dyn Fn(&AtomicBool)) {
    eventually(|| {
        let (done, waited) = (AtomicBool::new(false), AtomicBool::new(false));
        let body = |worker: usize, _, _| {
            if worker == 1 {
                eventually(|| done.load(Ordering::SeqCst));
                waited.store(true, Ordering::SeqCst);
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let ran = catch_unwind(AssertUnwindSafe(|| pool.run_while(16, &body, &|| meanwhile(&done))));
        assert!(ran.is_ok() || waited.load(Ordering::SeqCst), "a panic comes when no worker is at it");
        waited.into_inner()
    });
}

#[test]
fn a_caller_does_something_while_it_waits_for_the_last_worker() {
    let pool = pool(2);
    while_a_worker_waits(&pool, &|done| done.store(true, Ordering::SeqCst));
    while_a_worker_waits(&pool, &|done| {
        done.store(true, Ordering::SeqCst);
        panic!("planted to fail");
    });
    check(&pool, 100);
}

mod openmp {
    //! A team stands in for OpenMP's: threads of the standard library, which know their numbers.

    use super::*;
    use crate::pool::openmp::{OpenMp, Team};
    use std::cell::Cell;
    use std::ffi::{c_int, c_uint, c_void};

    thread_local! {
        static NUMBER: Cell<c_int> = const { Cell::new(0) };
        static IN_TEAM: Cell<c_int> = const { Cell::new(1) };
        static MAX: Cell<c_int> = const { Cell::new(4) };
    }

    unsafe extern "C" fn parallel(
        region: extern "C" fn(*mut c_void),
        data: *mut c_void,
        threads: c_uint,
        _: c_uint,
    ) {
        let threads = if IN_TEAM.get() > 1 { 1 } else { threads as c_int }; // within a region, a team of one
        let (data, outside) = (data as usize, (NUMBER.get(), IN_TEAM.get()));
        let run = |number| {
            NUMBER.set(number);
            IN_TEAM.set(threads);
            region(data as *mut c_void);
        };
        std::thread::scope(|scope| {
            (1..threads).for_each(|number| drop(scope.spawn(move || run(number))));
            run(0);
        });
        NUMBER.set(outside.0);
        IN_TEAM.set(outside.1);
    }

    unsafe extern "C" fn thread_num() -> c_int {
        NUMBER.get()
    }

    unsafe extern "C" fn num_threads() -> c_int {
        IN_TEAM.get()
    }

    unsafe extern "C" fn max_threads() -> c_int {
        MAX.get()
    }

    fn library() -> OpenMp {
        let led = AtomicBool::new(false);
        OpenMp { parallel, thread_num, num_threads, max_threads, process: std::process::id(), led }
    }

    fn run(team: &Team<'_>, tasks: usize, body: Body<'_>) {
        run_while(team, tasks, body, &|| ());
    }

    fn run_while(team: &Team<'_>, tasks: usize, body: Body<'_>, meanwhile: &dyn Fn()) {
        run_with(tasks, team.threads, body, |job| team.lead(job, meanwhile));
    }

    #[test]
    fn every_task_is_done_once_by_a_team() {
        let openmp = library();
        let team = openmp.team(4, true).expect("as many as were asked for");
        for tasks in [0, 1, 3, 64, 4097] {
            let done: Vec<AtomicU32> = (0..tasks).map(|_| AtomicU32::new(0)).collect();
            run(&team, tasks, &|worker, begin, end| {
                assert!(worker < 4);
                for task in &done[begin..end] {
                    task.fetch_add(1, Ordering::Relaxed);
                }
            });
            assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn a_team_is_no_larger_than_the_pool_and_what_was_asked_for() {
        let openmp = library();
        let threads = |pool, asked| openmp.team(pool, asked).map(|team| team.threads);
        assert_eq!([threads(8, false), threads(4, false), threads(2, false)], [Some(4), Some(4), None]);
        assert_eq!([threads(8, true), threads(4, true), threads(2, true)], [None, Some(4), None]);
        let of_another_process = OpenMp { process: 0, ..library() };
        assert!(of_another_process.team(4, true).is_none());
    }

    #[test]
    fn a_forked_child_shares_no_library() {
        assert!(!crate::pool::openmp::is_forked());
        in_a_child(|| assert!(crate::pool::openmp::is_forked() && !crate::pool::share_openmp()));
    }

    #[test]
    fn a_call_beside_another_runs_alone() {
        let openmp = library();
        let team = openmp.team(4, true).expect("as many as were asked for");
        let beside = || {
            let caller = std::thread::current().id();
            run(&team, 100, &|worker, begin, end| {
                assert_eq!((worker, begin, end), (0, 0, 100));
                assert_eq!(std::thread::current().id(), caller);
            });
        };
        run(&team, 4, &|_, _, _| std::thread::scope(|scope| scope.spawn(beside).join().expect("no panic")));
        assert!(!openmp.led.load(Ordering::Relaxed));
    }

    #[test]
    fn a_call_within_a_region_runs_alone() {
        let openmp = library();
        let team = openmp.team(4, true).expect("as many as were asked for");
        let inner = AtomicUsize::new(0);
        run(&team, 100, &|_, begin, end| {
            run(&team, end - begin, &|worker, begin, end| {
                assert_eq!(worker, 0);
                inner.fetch_add(end - begin, Ordering::Relaxed);
            });
        });
        assert_eq!(inner.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn the_caller_gets_the_panic_and_what_it_does_meanwhile_is_done() {
        let openmp = library();
        let team = openmp.team(4, true).expect("as many as were asked for");
        let panic = catch_unwind(AssertUnwindSafe(|| run(&team, 100, &|_, _, _| panic!("of the body"))));
        assert_eq!(panic.expect_err("a panic").downcast_ref::<&str>(), Some(&"of the body"));

        let (caller, looked) = (std::thread::current().id(), AtomicBool::new(false));
        let wait = |worker, _, _| {
            if worker != 0 {
                eventually(|| looked.load(Ordering::Relaxed));
            }
        };
        let meanwhile = || {
            assert_eq!(std::thread::current().id(), caller);
            looked.store(true, Ordering::Relaxed);
        };
        // The caller may take all pieces before another thread is there.
        eventually(|| {
            run_while(&team, 4, &wait, &meanwhile);
            looked.load(Ordering::Relaxed)
        });
    }
}
