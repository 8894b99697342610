//! A thread pool for kernels: starts once, wakes fast, survives `fork`.
//!
//! Takes a number of tasks and a function of a range of them; gives every task to exactly one worker. Which
//! worker gets which task is not fixed, so results must not depend on it. Does not queue: a call made while
//! another is running, from inside a task or from another thread, runs on its own thread alone. Where the process
//! uses OpenMP, pools may run on its threads ([`share_openmp`]).

mod affinity;
mod job;
mod openmp;
#[cfg(test)]
mod tests;
mod worker_threads;
mod workers;

pub use openmp::share_openmp;
pub use worker_threads::MAX_THREADS;
pub use workers::{Workers, until_interrupted};

use job::Job;
use openmp::Team;
use std::num::NonZeroUsize;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use worker_threads::WorkerThreads;

/// A function of (worker, begin, end) that does the tasks `begin..end`. `worker` is below
/// [`Pool::threads`], and within one call of [`Pool::run`] no two threads have the same one.
pub type Body<'f> = &'f (dyn Fn(usize, usize, usize) + Sync);

/// A pool of worker threads. They start at the first call that can use them, and again in a child process.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    /// Whether the caller asked for that number.
    asked: bool,
    /// Null, or a leaked box that lives until the pool is dropped.
    worker_threads: AtomicPtr<WorkerThreads>,
}

impl Pool {
    /// A pool of `threads` threads, the caller's included; without a number, of as many as the process may use (its affinity
    /// mask and control group considered). At most 1024.
    pub fn new(threads: Option<NonZeroUsize>) -> Pool {
        let asked = threads.is_some();
        let threads = threads.or_else(|| std::thread::available_parallelism().ok());
        let threads = threads.map_or(1, |threads| threads.get().min(worker_threads::MAX_THREADS));
        Pool { threads, asked, worker_threads: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The number of threads, the caller's included. Where the system does not start that many, calls run on those it did
    /// start.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Does the tasks `0..tasks`, in pieces of consecutive ones, the last ones the smallest, and returns
    /// when all are done. The caller is worker 0.
    ///
    /// # Panics
    /// With the first panic of `body`, once no thread is in it any more; the tasks left are not done.
    pub fn run(&self, tasks: usize, body: Body<'_>) {
        self.run_while(tasks, body, &|| ());
    }

    /// [`Pool::run`]; the caller runs `meanwhile` now and then while it waits for the last worker.
    ///
    /// # Panics
    /// As [`Pool::run`], and with a panic of `meanwhile`.
    pub fn run_while(&self, tasks: usize, body: Body<'_>, meanwhile: &dyn Fn()) {
        match Team::shared(self.threads, self.asked) {
            Some(team) => run_with(tasks, team.threads, body, |job| team.lead(job, meanwhile)),
            None => self.run_on_its_own(tasks, body, meanwhile),
        }
    }

    /// [`Pool::run_while`] on the pool's own threads: for callers whose thread, and OpenMP's threads with it, ends soon.
    pub(super) fn run_on_its_own(&self, tasks: usize, body: Body<'_>, meanwhile: &dyn Fn()) {
        run_with(tasks, self.threads, body, |job| self.worker_threads().lead(job, meanwhile));
    }

    /// The workers of this process: those already there, or new ones.
    fn worker_threads(&self) -> &WorkerThreads {
        let current = self.worker_threads.load(Ordering::Acquire);
        // SAFETY: worker threads once installed are freed only when the pool is dropped.
        match unsafe { current.as_ref() } {
            Some(worker_threads) if worker_threads.is_of_this_process() => worker_threads,
            _ => self.install(current),
        }
    }

    /// Installs new workers in place of `old`, which is null or belongs to the parent process. That one is leaked: its
    /// threads are not in this process, and they may hold its locks forever.
    fn install(&self, old: *mut WorkerThreads) -> &WorkerThreads {
        let new = Box::into_raw(Box::new(WorkerThreads::start(self.threads)));
        match self.worker_threads.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: installed worker threads are freed only when the pool is dropped.
            Ok(_) => unsafe { &*new },
            Err(winner) => {
                // SAFETY: `new` came from a box just now, and nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: as for the installed one above.
                unsafe { &*winner }
            }
        }
    }
}

/// Does tasks on threads that `lead` leads, or on this one if it leads none.
fn run_with(tasks: usize, threads: usize, body: Body<'_>, lead: impl FnOnce(&Job<'_>) -> Option<()>) {
    if tasks == 0 {
        return;
    }
    if threads == 1 || tasks == 1 {
        return body(0, 0, tasks);
    }
    let job = Job::new(tasks, threads, body);
    match lead(&job) {
        Some(()) => job.finish(),
        None => body(0, 0, tasks),
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let worker_threads = *self.worker_threads.get_mut();
        // SAFETY: the pointer is null or from a box, and dropping the pool excludes all callers.
        unsafe {
            if worker_threads.as_ref().is_some_and(WorkerThreads::is_of_this_process) {
                drop(Box::from_raw(worker_threads));
            }
        }
    }
}
