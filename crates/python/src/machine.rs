//! The threads that definitions run on: those of the process, or as many as a call requests.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use ferrofuse::{CpuFacts, CpuTarget, Machine, MachineOptions, ObjectCache, unforked};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::environment;

/// The machine that all executables of the process are compiled for.
static MACHINE: LazyLock<Arc<Machine>> = LazyLock::new(|| {
    let (llvm, cache, facts) = (environment::llvm_options(), cache(), facts());
    Arc::new(Machine::new(MachineOptions { llvm, cache, facts, ..MachineOptions::default() }))
});

/// Why machine code is not kept between processes although a folder is set.
static CACHE_NOTICE: OnceLock<String> = OnceLock::new();

/// Why the measured facts about the machine are not used although there is a file of them.
static FACTS_NOTICE: OnceLock<String> = OnceLock::new();

/// Whether what is missing on the machine was reported.
static IS_REPORTED: AtomicBool = AtomicBool::new(false);

/// Warns of what is missing on the machine, once for the process, before something is compiled for the host: libLLVM, or a
/// usable folder of kept machine code, or a file of facts that can be read.
///
/// # Errors
/// The warning, if it is to be an exception.
#[inline]
pub fn report_once(py: Python<'_>) -> PyResult<()> {
    if IS_REPORTED.load(Ordering::Relaxed) { Ok(()) } else { report(py) }
}

#[cold]
fn report(py: Python<'_>) -> PyResult<()> {
    if IS_REPORTED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let notice = py.detach(|| of_process().notice());
    for message in notice.iter().chain(CACHE_NOTICE.get()).chain(FACTS_NOTICE.get()) {
        py.import("ferrofuse.notices")?.call_method1("warn", (message,))?;
    }
    Ok(())
}

/// The cache of machine code. Without one each process compiles anew.
fn cache() -> Option<Arc<ObjectCache>> {
    let options = environment::cache_options()?;
    let folder = options.folder.clone();
    let opened = ObjectCache::open(options).map(Arc::new);
    let notice = |error| format!("compiled kernels are not kept: {}: {error}", folder.display());
    opened.map_err(|error| CACHE_NOTICE.get_or_init(|| notice(error))).ok()
}

/// The CPU that kernels of the process are made for, once it was read.
static TARGET: OnceLock<CpuTarget> = OnceLock::new();

/// Reads for which CPU kernels are made, once for the process.
///
/// # Errors
/// `ValueError` for a name that is none of a CPU's.
pub fn read_target() -> PyResult<()> {
    let target = environment::cpu_target()?;
    TARGET.get_or_init(|| target);
    Ok(())
}

/// The CPU that kernels are made for.
pub fn target() -> CpuTarget {
    TARGET.get().copied().unwrap_or(CpuTarget::Host)
}

/// The measured facts about the machine. A file with other contents is ignored, with a notice.
fn facts() -> Option<CpuFacts> {
    let read = CpuFacts::read(&environment::facts_path()?);
    read.map_err(|error| FACTS_NOTICE.get_or_init(|| error.to_string())).ok().flatten()
}

/// The machine of calls without `threads`, once one was chosen.
static CHOSEN: Mutex<Option<Arc<Machine>>> = Mutex::new(None);

/// The machines that differ from it in the number of threads, and share its memory and cache; the last that was asked for
/// comes last. Their threads wait for calls.
static OTHERS: Mutex<Vec<Arc<Machine>>> = Mutex::new(Vec::new());

/// The most that are kept: the threads of one that is dropped end with its last call.
const MAX_OTHERS: usize = 8;

/// The machine of the process.
pub fn of_process() -> Arc<Machine> {
    // A forked child would find a half-initialized machine.
    unforked(|| Arc::clone(&MACHINE))
}

/// The machine of a call with `threads` threads, or without the argument; `None` for that of the process.
///
/// # Errors
/// `ValueError` for an object that is no number of threads.
pub fn of_call(threads: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<Machine>>> {
    let Some(threads) = threads else {
        return Ok(CHOSEN.lock().unwrap_or_else(PoisonError::into_inner).clone());
    };
    let number = number("threads", threads)?;
    let mut others = OTHERS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = others.iter().position(|machine| machine.threads() == number.get());
    let machine = match known {
        Some(place) => others.remove(place),
        None => Arc::new(of_process().with_threads(number)),
    };
    others.push(Arc::clone(&machine));
    let dropped = (others.len() > MAX_OTHERS).then(|| others.remove(0));
    drop(others);
    drop(dropped);
    Ok(Some(machine))
}

/// How many threads calls run on that do not say `threads`.
#[pyfunction]
pub fn get_num_threads() -> usize {
    let chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    chosen.unwrap_or_else(of_process).threads()
}

/// Has calls that do not say `threads` run on `n` threads, the caller's included.
#[pyfunction]
pub fn set_num_threads(n: &Bound<'_, PyAny>) -> PyResult<()> {
    number("n", n)?;
    let machine = of_call(Some(n))?;
    *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) = machine;
    Ok(())
}

fn number(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<NonZeroUsize> {
    let number = given.extract::<usize>().ok().filter(|_| !given.is_instance_of::<PyBool>());
    let number = number.filter(|&number| number <= Machine::MOST_THREADS).and_then(NonZeroUsize::new);
    let rejected = || -> PyResult<PyErr> {
        let most = Machine::MOST_THREADS;
        let message =
            format!("{argument}: expected a number of threads from 1 to {most}, got {}", given.repr()?);
        Ok(PyValueError::new_err(message))
    };
    number.map_or_else(|| Err(rejected()?), Ok)
}
