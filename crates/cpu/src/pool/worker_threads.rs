//! The worker threads of one process, and how a caller leads them through a job.
//!
//! A job is open while the caller works on it. Workers join an open job, work, and leave; the caller closes
//! it when it finds no piece left, and waits only for those who joined. A worker that wakes too late finds
//! the job closed and costs nothing. Which pieces exist and what they do is the job's affair.

use super::affinity::Affinity;
use super::job::Job;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, available_parallelism};
use std::time::{Duration, Instant};

/// The most threads a pool has; their count fits the low bits of the state.
pub const MAX_THREADS: usize = 1024;

/// The shortest time that a thread looks for work, or for the last worker to leave, before it sleeps: about what waking a
/// sleeper costs its caller (measured: 0.6 µs to reach a spinning worker, 10 µs for the caller to wake one in a virtual
/// machine), so at worst twice the best choice. It covers the gap between two kernels of a plan.
const SPIN: Duration = Duration::from_micros(10);

/// The longest such time, after long work: a sleeper on an idle processor of a virtual machine may need longer to run than
/// its caller takes between two calls.
const LONGEST_SPIN: Duration = Duration::from_micros(300);

/// How long a caller sleeps while it waits for the last worker, before it runs `meanwhile` again.
pub(super) const MEANWHILE_INTERVAL: Duration = Duration::from_millis(10);

/// The part of a job's time for which its threads look for another.
const SPIN_PART: u32 = 8;

// The state of the job, in one word so that joining and closing exclude each other:
// number of workers inside (16 bits), OPEN, WAITING (the caller sleeps until they left), generation.
const INSIDE: u64 = (1 << 16) - 1;
const OPEN: u64 = 1 << 16;
const WAITING: u64 = 1 << 17;
const GENERATION: u64 = 1 << 18;

#[derive(Debug)]
pub(super) struct WorkerThreads {
    process: u32,
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    affinity: Option<Affinity>,
    /// Whether there are more threads than processors: a thread that looks for work then keeps others from running.
    crowded: bool,
}

#[derive(Debug)]
struct Shared {
    state: AtomicU64,
    job: AtomicPtr<Job<'static>>,
    /// Whether a caller leads the workers; others then work alone.
    led: AtomicBool,
    quit: AtomicBool,
    /// How many nanoseconds to look for another job after the last one.
    patience: AtomicU64,
    sleepers: AtomicUsize,
    /// Guards no data, only the moment between looking at the state and sleeping.
    sleep: Mutex<()>,
    wake: Condvar,
    left: Condvar,
}

impl WorkerThreads {
    /// Starts `threads - 1` workers, or as many of them as the system allows.
    pub fn start(threads: usize) -> WorkerThreads {
        let shared = Arc::new(Shared {
            state: AtomicU64::new(0),
            job: AtomicPtr::new(ptr::null_mut()),
            led: AtomicBool::new(false),
            quit: AtomicBool::new(false),
            patience: AtomicU64::new(SPIN.as_nanos() as u64),
            sleepers: AtomicUsize::new(0),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
            left: Condvar::new(),
        });
        let start = |worker| {
            let shared = Arc::clone(&shared);
            let builder = std::thread::Builder::new().name(format!("ferrofuse-{worker}"));
            builder.spawn(move || shared.serve(worker)).ok()
        };
        let workers: Vec<_> = (1..threads).map_while(start).collect();
        let affinity = Affinity::new(workers.len());
        let crowded = available_parallelism().is_ok_and(|processors| processors.get() < threads);
        WorkerThreads { process: std::process::id(), shared, workers, affinity, crowded }
    }

    /// False in a child process, where only the thread that called `fork` exists.
    pub fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Works on the job together with the workers; `None`, and nothing is done, if another call leads them. When this
    /// returns, no worker is in the job. While it waits for the last one, it runs `meanwhile` now and then.
    pub fn lead(&self, job: &Job<'_>, meanwhile: &dyn Fn()) -> Option<()> {
        let shared = &*self.shared;
        shared.led.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
        shared.open(job, &self.workers, self.affinity.as_ref());
        let begin = Instant::now();
        job.work(0);
        if !self.crowded {
            shared.be_patient(begin.elapsed());
        }
        shared.close(|| job.caught(meanwhile));
        shared.led.store(false, Ordering::Release);
        Some(())
    }
}

impl Drop for WorkerThreads {
    fn drop(&mut self) {
        self.shared.quit.store(true, Ordering::SeqCst);
        drop(self.shared.lock());
        self.shared.wake.notify_all();
        for worker in self.workers.drain(..) {
            // A worker catches the panics of its jobs, so it has nothing to report.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.sleep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a job and wakes as many sleepers as find something to do.
    fn open(&self, job: &Job<'_>, workers: &[JoinHandle<()>], affinity: Option<&Affinity>) {
        self.job.store(ptr::from_ref(job).cast_mut().cast(), Ordering::Relaxed);
        let generation = self.state.load(Ordering::Relaxed) / GENERATION + 1;
        // Sequentially consistent, as is the sleeper's count-then-look: one of the two sees the other.
        self.state.store((generation * GENERATION) | OPEN, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) == 0 {
            return;
        }
        if let Some(affinity) = affinity {
            affinity.keep(workers);
        }
        drop(self.lock());
        let helpers = job.useful_workers() - 1;
        if helpers >= workers.len() {
            self.wake.notify_all();
        } else {
            (0..helpers).for_each(|_| self.wake.notify_one());
        }
    }

    /// Keeps further workers out and waits until those inside have left.
    fn close(&self, meanwhile: impl Fn()) {
        self.state.fetch_and(!OPEN, Ordering::AcqRel);
        let is_empty = || self.state.load(Ordering::Acquire) & INSIDE == 0;
        if self.spin_until(is_empty) {
            return;
        }
        self.state.fetch_or(WAITING, Ordering::AcqRel);
        while !self.sleep_until(is_empty) {
            meanwhile();
        }
    }

    /// Sleeps until the last worker has left, or for a moment; returns whether all have left.
    fn sleep_until(&self, is_empty: impl Fn() -> bool) -> bool {
        let waited = self.left.wait_timeout_while(self.lock(), MEANWHILE_INTERVAL, |()| !is_empty());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        is_empty()
    }

    /// A worker's life.
    fn serve(&self, worker: usize) {
        let mut seen = 0;
        while self.await_job(seen) {
            if let Some(generation) = self.join(seen) {
                seen = generation;
                // SAFETY: the caller keeps the job alive until every worker that joined has left.
                unsafe { &*self.job.load(Ordering::Relaxed) }.work(worker);
                self.leave();
            }
        }
    }

    /// The generation of an open job that is not `seen`.
    fn open_since(&self, seen: u64) -> Option<u64> {
        let state = self.state.load(Ordering::SeqCst);
        (state & OPEN != 0 && state / GENERATION != seen).then_some(state)
    }

    /// Waits for a job to open, awake for a moment, then asleep; false when the workers are dismissed.
    fn await_job(&self, seen: u64) -> bool {
        let called = || self.open_since(seen).is_some() || self.quit.load(Ordering::SeqCst);
        if !self.spin_until(called) {
            let mut guard = self.lock();
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            while !called() {
                guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
        }
        !self.quit.load(Ordering::SeqCst)
    }

    /// Enters the open job, if it is still open, and gives its generation.
    fn join(&self, seen: u64) -> Option<u64> {
        while let Some(state) = self.open_since(seen) {
            let entered = self.state.compare_exchange(state, state + 1, Ordering::AcqRel, Ordering::Relaxed);
            if entered.is_ok() {
                return Some(state / GENERATION);
            }
        }
        None
    }

    /// Leaves the job; what this worker wrote is visible to the caller afterwards.
    fn leave(&self) {
        let before = self.state.fetch_sub(1, Ordering::AcqRel);
        if before & INSIDE == 1 && before & WAITING != 0 {
            drop(self.lock());
            self.left.notify_one();
        }
    }

    /// Sets how long to look for more after a job of `worked`.
    fn be_patient(&self, worked: Duration) {
        let patience = (worked / SPIN_PART).clamp(SPIN, LONGEST_SPIN);
        self.patience.store(patience.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Checks a condition for as long as the last job is worth it; returns whether it came true.
    fn spin_until(&self, condition: impl Fn() -> bool) -> bool {
        let begin = Instant::now();
        loop {
            for _ in 0..32 {
                if condition() {
                    return true;
                }
                std::hint::spin_loop();
            }
            // A job that ends meanwhile may change it.
            let patience = Duration::from_nanos(self.patience.load(Ordering::Relaxed));
            if begin.elapsed() > patience {
                return false;
            }
        }
    }
}
