//! A pool's threads for one call, which may be interrupted: between two parts of a task's piece, on any thread.
//!
//! An interrupt unwinds like a panic, without the message: results of dropped work are not needed, and loops over the
//! threads need not handle it. [`until_interrupted`] catches it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use ir::interrupt::{Interrupt, Interrupted};
use reference::evaluate::ParallelFor;

use super::{Body, Pool};

/// How long a caller that only waits does so before it polls again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Threads that stop when an interrupt is requested.
#[derive(Clone, Copy, Debug)]
pub struct Workers<'c> {
    pool: &'c Pool,
    interrupt: &'c Interrupt,
    /// The thread that waits for the call; it alone may poll.
    caller: ThreadId,
}

impl<'c> Workers<'c> {
    /// The threads of a pool, for a call.
    pub fn new(pool: &'c Pool, interrupt: &'c Interrupt) -> Workers<'c> {
        Workers { pool, interrupt, caller: thread::current().id() }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// [`Pool::run`], with a check of the interrupt after each `unit` tasks, which should take less than some milliseconds.
    ///
    /// # Panics
    /// As [`Pool::run`], and with [`Interrupted`] within [`until_interrupted`].
    pub fn run(&self, tasks: usize, unit: usize, body: Body<'_>) {
        if !self.interrupt.is_possible() {
            return self.pool.run(tasks, body);
        }
        let in_parts = |worker, begin, end| self.in_parts(worker, begin..end, unit, body);
        let poll = || {
            self.is_to_stop();
        };
        self.pool.run_while(tasks, &in_parts, &poll);
    }

    /// Does tasks on the calling thread, as worker 0.
    pub fn run_alone(&self, tasks: usize, unit: usize, body: Body<'_>) {
        self.in_parts(0, 0..tasks, unit, body);
    }

    /// Does tasks of which each takes long, on `threads` threads beside the caller's, which polls the interrupt meanwhile.
    ///
    /// # Panics
    /// As [`Workers::run`].
    pub fn run_beside(&self, tasks: usize, threads: usize, body: Body<'_>) {
        let in_parts = |worker, begin, end| self.in_parts(worker, begin..end, 1, body);
        thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let leader = scope.spawn(move || {
                let _done = done; // dropped at the end, also by a panic
                match threads {
                    1 => in_parts(0, 0, tasks),
                    _ => self.pool.run_on_its_own(tasks, &in_parts, &|| ()),
                }
            });
            while is_done.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                self.interrupt.poll();
            }
            leader.join().unwrap_or_else(|payload| resume_unwind(payload));
        });
    }

    fn in_parts(&self, worker: usize, tasks: std::ops::Range<usize>, unit: usize, body: Body<'_>) {
        let unit = if self.interrupt.is_possible() { unit.max(1) } else { tasks.len().max(1) };
        for begin in tasks.clone().step_by(unit) {
            self.look();
            body(worker, begin, tasks.end.min(begin.saturating_add(unit)));
        }
    }

    /// Unwinds if the call is to stop: for pieces that take long.
    pub fn look(&self) {
        if self.is_to_stop() {
            resume_unwind(Box::new(Interrupted));
        }
    }

    /// Whether the call is to stop; its caller polls that.
    fn is_to_stop(&self) -> bool {
        let is_caller = self.interrupt.is_possible() && thread::current().id() == self.caller;
        if is_caller { self.interrupt.poll() } else { self.interrupt.is_requested() }
    }
}

impl ParallelFor for Workers<'_> {
    /// The evaluator's pieces take a few milliseconds, except those that check the interrupt by themselves.
    fn run(&self, pieces: usize, body: &(dyn Fn(usize) + Sync)) {
        self.run(pieces, 1, &|_, begin, end| (begin..end).for_each(body));
    }

    fn look(&self) {
        self.look();
    }
}

/// Does something with [`Workers`], until it ends or is interrupted.
///
/// # Errors
/// [`Interrupted`].
pub fn until_interrupted<R>(work: impl FnOnce() -> R) -> Result<R, Interrupted> {
    // Everything that is dropped belongs to the call alone.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<Interrupted>() {
        Ok(interrupted) => *interrupted,
        Err(bug) => resume_unwind(bug),
    })
}
