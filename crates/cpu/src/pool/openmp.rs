//! The threads of an OpenMP library that the process uses, as torch does: pools run on them instead of beside them.
//!
//! After a parallel region, OpenMP's threads spin for milliseconds, waiting for the next one, and meanwhile occupy the
//! processors that a pool's threads need; on OpenMP's threads a job begins at once. The entry points are those of GCC's
//! libgomp, which LLVM's and Intel's libraries have too. Knows nothing of what a job does.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use libloading::os::unix::Library;

use super::job::Job;
use super::worker_threads::MEANWHILE_INTERVAL;

/// The function that each thread of a team runs.
type Region = extern "C" fn(*mut c_void);

type Parallel = unsafe extern "C" fn(Region, *mut c_void, c_uint, c_uint);
type Number = unsafe extern "C" fn() -> c_int;

/// An OpenMP library's functions.
#[derive(Debug)]
pub(super) struct OpenMp {
    /// Runs a function on a team of a given number of threads, the caller's included. Flags are 0.
    pub parallel: Parallel,
    /// The number of this thread in its team; the caller's is 0.
    pub thread_num: Number,
    /// The number of threads of this thread's team.
    pub num_threads: Number,
    /// How many threads this thread's teams have, unless a region asks for another number.
    pub max_threads: Number,
    /// A child process has the library without its threads, and would wait for them forever.
    pub process: u32,
    /// Whether a caller leads a team; others then work alone, as they would start teams of their own.
    pub led: AtomicBool,
}

static SHARED: OnceLock<Option<OpenMp>> = OnceLock::new();

/// Makes the pools of this process run from now on on the threads of the OpenMP library among its symbols, if there are as
/// many as the pool has. `false`, and nothing changes, if there is none, and in a child process, whose parent may have the
/// library's threads.
pub fn share_openmp() -> bool {
    SHARED.get_or_init(|| if is_forked() { None } else { OpenMp::of_process() }).is_some()
}

/// A team of `threads` threads of the OpenMP library, which pools share.
pub(super) struct Team<'o> {
    openmp: &'o OpenMp,
    pub threads: usize,
}

impl Team<'static> {
    /// The team of this thread for a pool of `threads` threads, `asked` for or not; see [`OpenMp::team`].
    pub fn shared(threads: usize, asked: bool) -> Option<Team<'static>> {
        SHARED.get()?.as_ref()?.team(threads, asked)
    }
}

impl OpenMp {
    fn of_process() -> Option<OpenMp> {
        let process = Library::this();
        // SAFETY: the types are those that OpenMP and the ABI of libgomp give these functions, in a library that is not unloaded,
        // as it has threads.
        unsafe {
            let number = |name: &str| process.get::<Number>(name).ok().map(|function| *function);
            Some(OpenMp {
                parallel: *process.get::<Parallel>("GOMP_parallel").ok()?,
                thread_num: number("omp_get_thread_num")?,
                num_threads: number("omp_get_num_threads")?,
                max_threads: number("omp_get_max_threads")?,
                process: std::process::id(),
                led: AtomicBool::new(false),
            })
        }
    }

    /// A team of as many threads as this thread's regions have; a region of another size would end threads that the next one
    /// starts again. `None` if those are more than the pool may use, or another number than asked for.
    pub fn team(&self, threads: usize, asked: bool) -> Option<Team<'_>> {
        if self.process != std::process::id() {
            return None;
        }
        // SAFETY: takes nothing, and reads a variable of the thread.
        let team = usize::try_from(unsafe { (self.max_threads)() }).ok()?;
        let fits = if asked { team == threads } else { (1..=threads).contains(&team) };
        fits.then_some(Team { openmp: self, threads: team })
    }
}

/// A job that a team works on.
struct Led<'l, 'f> {
    openmp: &'l OpenMp,
    job: &'l Job<'f>,
    /// For the caller alone.
    meanwhile: &'l dyn Fn(),
    /// How many threads beside the caller's have nothing left to do.
    left: AtomicUsize,
}

impl Team<'_> {
    /// Works on the job with the team; `None`, and nothing is done, if another call leads one. When this returns, no thread
    /// is in the job. While the caller waits for the last one, it runs `meanwhile` now and then.
    pub fn lead(&self, job: &Job<'_>, meanwhile: &dyn Fn()) -> Option<()> {
        let is_led = &self.openmp.led;
        is_led.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let mut led = Led { openmp: self.openmp, job, meanwhile, left: AtomicUsize::new(0) };
        // SAFETY: `work` takes what it is given here, which outlives the region; threads share it but for `meanwhile`.
        unsafe { (self.openmp.parallel)(work, (&raw mut led).cast(), self.threads as c_uint, 0) };
        is_led.store(false, Ordering::Release);
        Some(())
    }
}

extern "C" fn work(led: *mut c_void) {
    // SAFETY: [`Team::lead`] gives one that lives until all threads have left the region.
    let led = unsafe { &*led.cast::<Led<'_, '_>>() };
    // SAFETY: both take nothing, and are called within a region.
    let (worker, threads) = unsafe { ((led.openmp.thread_num)(), (led.openmp.num_threads)()) };
    led.job.work(worker as usize);
    match worker {
        0 => led.await_others(threads as usize - 1),
        _ => {
            led.left.fetch_add(1, Ordering::Release);
        }
    }
}

impl Led<'_, '_> {
    /// OpenMP waits at the end of a region too, and does nothing meanwhile.
    fn await_others(&self, others: usize) {
        let mut begin = Instant::now();
        while self.left.load(Ordering::Acquire) < others {
            thread::yield_now();
            if begin.elapsed() > MEANWHILE_INTERVAL {
                self.job.caught(self.meanwhile);
                begin = Instant::now();
            }
        }
    }
}

/// Whether this process was forked and runs the program of its parent, by the flag `PF_FORKNOEXEC` of Linux, in the ninth field
/// of its status.
pub(super) fn is_forked() -> bool {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = status.rsplit(')').next().unwrap_or_default();
    let flags = behind_name.split_whitespace().nth(6).and_then(|flags| flags.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & 0x40 != 0)
}
