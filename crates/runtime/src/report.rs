//! Reports: how a fusion was compiled, and where the time of a call went.

use std::time::Duration;

use cuda::KernelResources;

use crate::ExecutorKind;

/// How a fusion was compiled.
#[derive(Clone, Debug)]
pub struct Report {
    /// What runs it.
    pub executor: ExecutorKind,
    /// A message for the user, for example that libLLVM is missing, with the command that installs it.
    pub notice: Option<String>,
    /// The segments in the order they run.
    pub segments: Vec<SegmentReport>,
    /// Time from the definition to the plan.
    pub plan: Duration,
    /// Time from the plan to machine code, with kernels compiled side by side.
    pub compile: Duration,
}

/// How a segment was compiled.
#[derive(Clone, Debug)]
pub struct SegmentReport {
    pub name: String,
    /// Why the evaluator runs it, if it does.
    pub evaluator_reason: Option<String>,
    /// The external op that it is, if any.
    pub library: Option<&'static str>,
    pub kernels: Vec<KernelReport>,
}

/// How a kernel was compiled.
#[derive(Clone, Debug)]
pub struct KernelReport {
    pub name: String,
    /// Time in libLLVM or NVRTC; zero where nothing is compiled.
    pub compile: Duration,
    /// Bytes of machine code; zero where nothing is compiled.
    pub code_bytes: usize,
    /// Whether its machine code was kept from an earlier process.
    pub cached: bool,
    /// Its resources of a multiprocessor on a GPU, without dynamic shared memory, which depends on sizes.
    pub resources: Option<KernelResources>,
}

/// Code that reports how it was compiled.
pub(crate) trait Reported {
    /// The report on the kernel of this name.
    fn report(&self, name: &str) -> KernelReport;
}

/// Where the time of a call went.
#[derive(Clone, Debug, Default)]
pub struct CallReport {
    /// The kernels, evaluated segments and copies, in order.
    pub steps: Vec<StepReport>,
    /// Time from the first step to the last.
    pub total: Duration,
    /// Time in the compiler, from the definition to loaded code, if the call compiled something; otherwise zero.
    pub compile: Duration,
    /// Most bytes that the call held at once, inputs aside.
    pub peak_bytes: usize,
}

/// Where the time of a step went.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The kernel's name, those of a batch's first and last one, the evaluated segment's, or `copy`.
    pub name: String,
    /// Time of the step.
    pub time: Duration,
    /// Time of its kernel in libLLVM or NVRTC, if the call compiled it; otherwise zero.
    pub compile: Duration,
    /// Bytes of the tensors that it reads, each once, expanded ones at their size in memory.
    pub read: u64,
    /// Bytes of those that it writes.
    pub written: u64,
}

impl StepReport {
    /// Bytes of the tensors that it reads and of those that it writes.
    pub fn bytes(&self) -> u64 {
        self.read + self.written
    }
}
