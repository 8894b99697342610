//! Keeps workers that are about to be woken off their caller's processor.
//!
//! Linux may wake a thread on the processor of the thread that wakes it while another processor is idle: it stops looking
//! for idle ones if all were busy a moment ago. Both then take turns, and a call takes twice as long, until load is balanced
//! some milliseconds later. Takes threads and sets where they may run; if the system does not allow that, nothing is lost.

use std::mem;
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

/// No processor has this number.
const NONE: usize = usize::MAX;

/// The most workers for which this is done: each costs a system call whenever the caller has moved.
const MAX_WORKERS: usize = 8;

pub(super) struct Affinity {
    /// The processors that the thread that started the workers was allowed then. Workers are allowed these from now on: a
    /// mask that somebody gives a worker later lasts until its caller has moved.
    allowed: libc::cpu_set_t,
    /// The processor that the workers must not use.
    off: AtomicUsize,
}

impl Affinity {
    /// For `workers` workers of a caller; `None` if they are many, or each thread cannot have a processor of its own anyhow.
    pub fn new(workers: usize) -> Option<Affinity> {
        let allowed = allowed()?;
        // SAFETY: counts the bits of an initialised set.
        let count = unsafe { libc::CPU_COUNT(&allowed) };
        (workers <= MAX_WORKERS && workers < usize::try_from(count).ok()?)
            .then(|| Affinity { allowed, off: AtomicUsize::new(NONE) })
    }

    /// Keeps the workers off the processor of this thread from now on.
    pub fn keep(&self, workers: &[JoinHandle<()>]) {
        // SAFETY: asks where this thread runs.
        let Ok(here) = usize::try_from(unsafe { libc::sched_getcpu() }) else { return };
        if here >= libc::CPU_SETSIZE as usize || self.off.swap(here, Ordering::Relaxed) == here {
            return;
        }
        let mut others = self.allowed;
        // SAFETY: the number is one that the set has a bit for.
        unsafe { libc::CPU_CLR(here, &mut others) };
        for worker in workers {
            // SAFETY: the thread was not joined yet, as its handle is there; the set is initialised.
            unsafe {
                libc::pthread_setaffinity_np(worker.as_pthread_t(), mem::size_of_val(&others), &others)
            };
        }
    }
}

impl std::fmt::Debug for Affinity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Affinity").field("off", &self.off).finish_non_exhaustive()
    }
}

/// The processors that this thread may use.
pub(super) fn allowed() -> Option<libc::cpu_set_t> {
    // SAFETY: the set is plain bits, and the call writes no more than its size.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        (libc::sched_getaffinity(0, mem::size_of_val(&set), &mut set) == 0).then_some(set)
    }
}
