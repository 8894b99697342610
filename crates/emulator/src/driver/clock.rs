//! How often the driver is called and how long it takes, for measurements that subtract it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Whether calls are counted.
static RUNS: AtomicBool = AtomicBool::new(false);
/// Calls that were counted.
pub static CALLS: AtomicU64 = AtomicU64::new(0);
/// Their total time.
pub static NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// Starts or stops counting calls.
pub fn run(runs: bool) {
    RUNS.store(runs, Ordering::Relaxed);
}

/// A call in progress; dropping this ends it.
pub struct Timed(Option<Instant>);

impl Timed {
    /// A call that begins.
    pub fn begin() -> Timed {
        Timed(RUNS.load(Ordering::Relaxed).then(Instant::now))
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        if let Some(begin) = self.0 {
            CALLS.fetch_add(1, Ordering::Relaxed);
            NANOSECONDS.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }
}
