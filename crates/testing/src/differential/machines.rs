//! The machines that compiled code runs on, with several threads and buffers between pages that fault.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use ferrofuse::{Machine, MachineOptions, Side};
use llvm::CpuTarget;

/// The most threads that a check takes.
pub(super) const MOST_THREADS: usize = 5;

/// The machine of `threads` threads, shared by all checks. With an odd number buffers end at the pages that fault, with an
/// even number they begin there.
pub(super) fn machine(threads: usize) -> Arc<Machine> {
    static MACHINES: OnceLock<Vec<Arc<Machine>>> = OnceLock::new();
    let new = |threads: usize| {
        let guard = Some(if threads.is_multiple_of(2) { Side::Before } else { Side::After });
        let threads = NonZeroUsize::new(threads);
        // Small programs are shared among threads too.
        let options = MachineOptions { threads, guard, min_shared: Some(0), ..MachineOptions::default() };
        Arc::new(Machine::new(options))
    };
    Arc::clone(&MACHINES.get_or_init(|| (1..=MOST_THREADS).map(new).collect())[threads - 1])
}

/// The CPUs whose code this machine runs, its own among them.
pub(crate) fn targets() -> &'static [CpuTarget] {
    static TARGETS: OnceLock<Vec<CpuTarget>> = OnceLock::new();
    let runs = |target: &CpuTarget| *target == CpuTarget::Host || machine(1).runs(*target);
    TARGETS.get_or_init(|| CpuTarget::ALL.into_iter().filter(runs).collect())
}
