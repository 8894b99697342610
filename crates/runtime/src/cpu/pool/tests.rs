//! Every task is done once, by whichever thread, whatever happens around it.

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::time::Duration;

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
fn many_short_calls_in_a_row() {
    let pool = pool(4);
    for round in 0..20_000 {
        check(&pool, 1 + round % 40);
    }
}

#[test]
fn workers_wake_on_another_processor_than_their_caller() {
    let allowed = apart::affinity().expect("a mask");
    // SAFETY: counts the bits of an initialised set, and asks where this thread runs.
    let (count, here) = unsafe { (libc::CPU_COUNT(&allowed), libc::sched_getcpu()) };
    if count < 2 {
        return;
    }
    let pool = pool(2);
    pool.run(2, &|_, _, _| {});
    // SAFETY: the sets are plain bits; this thread is bound to where it runs.
    unsafe {
        let mut only: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(here as usize, &mut only);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&only), &only), 0);
    }
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(5));
        let places = Mutex::new(Vec::new());
        pool.run(16, &|worker, _, _| {
            // SAFETY: asks where this thread runs.
            places.lock().expect("not poisoned").push((worker, unsafe { libc::sched_getcpu() }));
            std::thread::sleep(Duration::from_millis(2));
        });
        let places = places.into_inner().expect("not poisoned");
        assert!(places.iter().all(|&(worker, place)| (worker == 0) == (place == here)), "{places:?}");
    }
}

#[test]
fn calls_after_a_rest_wake_the_workers() {
    let pool = pool(2);
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(5));
        let workers = Mutex::new(std::collections::BTreeSet::new());
        // Each piece lasts long enough for the other worker to wake and take one.
        pool.run(16, &|worker, _, _| {
            workers.lock().expect("not poisoned").insert(worker);
            std::thread::sleep(Duration::from_millis(2));
        });
        assert_eq!(workers.into_inner().expect("not poisoned").len(), 2);
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
    let threads = || std::fs::read_dir("/proc/self/task").expect("Linux").count();
    let before = threads();
    for _ in 0..200 {
        let pool = pool(4);
        pool.run(8, &|_, _, _| {});
    }
    // Other tests run beside this one and have a few threads of their own.
    assert!(threads() < before + 100);
}

#[test]
fn a_forked_child_gets_workers_of_its_own() {
    let pool = pool(4);
    check(&pool, 1000);
    // SAFETY: the child only uses the pool and leaves by `_exit`; the alarm ends it should it hang.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the default action of the signal is to end the process.
            unsafe { libc::alarm(20) };
            (0..50).for_each(|round| check(&pool, 100 + round));
            drop(pool);
        }));
        // SAFETY: ends the child at once, without running the parent's exit handlers.
        unsafe { libc::_exit(i32::from(outcome.is_err())) };
    }
    assert!(child > 0);
    let mut status = -1;
    // SAFETY: waits for the child made above; `status` is a live integer.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child hung or failed");
    check(&pool, 1000);
}
