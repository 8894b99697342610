//! What fusions run on: threads, memory, libLLVM, and a cache of its code. All fusions that do not ask for their own share
//! one.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

use codegen::cpu::Isa;
use ir::interrupt::Interrupt;
use llvm::{CpuTarget, Error as LlvmError, Llvm, LlvmOptions};
use target::Target;

use cpu::alloc::{Allocator, AllocatorOptions, Side};
use cpu::facts::CpuFacts;
use cpu::fork::unforked;
use cpu::limits::{last_level_cache, memory_of_process};
use cpu::objects::ObjectCache;
use cpu::pool::{MAX_THREADS, Pool, Workers};

/// How to use the machine.
#[derive(Clone, Debug, Default)]
pub struct MachineOptions {
    /// Number of threads, the caller's included; without it, as many as the process may use.
    pub threads: Option<NonZeroUsize>,
    /// Where libLLVM is.
    pub llvm: LlvmOptions,
    /// The most bytes that calls may hold at once; without it, the memory that the process may use.
    pub memory_limit: Option<usize>,
    /// Where machine code is kept between processes; without it, it is not.
    pub cache: Option<Arc<ObjectCache>>,
    /// Measurements of the machine for the cost model; without it, typical values of CPUs. Facts of another CPU, or of
    /// another number of threads, are ignored.
    pub facts: Option<CpuFacts>,
    /// The fewest operations of a launch that threads share; without it, about as many as one thread does while another
    /// wakes. No result depends on it.
    pub min_shared: Option<u64>,
    /// Whether kernels are listed where `perf` looks for the names of code made at run time.
    pub perf_map: bool,
    /// Whether buffers lie between pages that fault, and on which side they touch one. For tests.
    pub guard: Option<Side>,
}

/// Eight per element of 64x1024. Measured there in a virtual machine, two threads, one of which has to wake, take longer
/// than one: a sum over rows 18 µs instead of 3, a softmax 33 instead of 18.
const MIN_SHARED: u64 = 1 << 19;

/// The most bytes of the last-level cache that a process may expect to keep per processor: a cache of 480 MiB serves dozens
/// of other processors too, which a virtual machine does not reveal. Caches of few processors have 4 to 12 MiB each.
const SHARE_OF_PROCESSOR: usize = 16 << 20;

/// Threads, memory, libLLVM and its cache.
#[derive(Debug)]
pub struct Machine {
    pub(crate) pool: Pool,
    pub(crate) allocator: Allocator,
    llvm: LlvmOptions,
    /// libLLVM, once it is found.
    found: OnceLock<Llvm>,
    cache: Option<Arc<ObjectCache>>,
    memory_limit: usize,
    last_level_cache: usize,
    share_of_cache: usize,
    facts: Option<CpuFacts>,
    min_shared: u64,
    perf_map: bool,
}

impl Machine {
    /// The most threads that a machine has.
    pub const MOST_THREADS: usize = MAX_THREADS;

    /// A separate machine. Threads start when they are first needed.
    pub fn new(options: MachineOptions) -> Machine {
        let memory_limit = options.memory_limit.unwrap_or_else(memory_of_process);
        let limits = AllocatorOptions {
            live_limit: Some(memory_limit),
            guard: options.guard,
            ..AllocatorOptions::default()
        };
        let last_level_cache = last_level_cache();
        let processors = available_parallelism().map_or(1, NonZeroUsize::get);
        Machine {
            pool: Pool::new(options.threads),
            allocator: Allocator::new(limits),
            llvm: options.llvm,
            found: OnceLock::new(),
            cache: options.cache,
            memory_limit,
            last_level_cache,
            share_of_cache: last_level_cache.min(processors.saturating_mul(SHARE_OF_PROCESSOR)),
            facts: options.facts,
            min_shared: options.min_shared.unwrap_or(MIN_SHARED),
            perf_map: options.perf_map,
        }
    }

    /// The same memory, libLLVM and cache, with another number of threads.
    pub fn with_threads(&self, threads: NonZeroUsize) -> Machine {
        Machine {
            pool: Pool::new(Some(threads)),
            allocator: self.allocator.clone(),
            llvm: self.llvm.clone(),
            found: self.found.clone(),
            cache: self.cache.clone(),
            facts: self.facts.clone(),
            ..*self
        }
    }

    /// The machine that all share.
    pub fn shared() -> Arc<Machine> {
        static SHARED: OnceLock<Arc<Machine>> = OnceLock::new();
        let new = || Arc::new(Machine::new(MachineOptions::default()));
        unforked(|| Arc::clone(SHARED.get_or_init(new)))
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Its threads, for work of the calling thread that may be interrupted.
    pub fn workers<'c>(&'c self, interrupt: &'c Interrupt) -> Workers<'c> {
        Workers::new(&self.pool, interrupt)
    }

    /// The most bytes that calls may hold at once.
    pub fn memory_limit(&self) -> usize {
        self.memory_limit
    }

    /// Bytes of the largest cache.
    pub fn last_level_cache(&self) -> usize {
        self.last_level_cache
    }

    /// Bytes of it in which the process may expect its own data.
    pub(crate) fn share_of_cache(&self) -> usize {
        self.share_of_cache
    }

    /// The fewest operations of a launch that threads share.
    pub(crate) fn min_shared(&self) -> u64 {
        self.min_shared
    }

    /// Whether kernels are listed for `perf`.
    pub(crate) fn has_perf_map(&self) -> bool {
        self.perf_map
    }

    /// The allocator of outputs.
    pub fn allocator(&self) -> &Allocator {
        &self.allocator
    }

    /// The cache of machine code between processes.
    pub fn cache(&self) -> Option<&ObjectCache> {
        self.cache.as_deref()
    }

    /// libLLVM. If a cache remembers its identity, it is opened only when there is something to compile.
    ///
    /// # Errors
    /// Why it is missing, with the command that installs it. The failure is not cached.
    pub fn llvm(&self) -> Result<Llvm, LlvmError> {
        if let Some(llvm) = self.found.get() {
            return Ok(llvm.clone());
        }
        let remembered = self.cache().and_then(|cache| cache.remembered(&self.llvm));
        let llvm = match remembered {
            Some(llvm) => llvm,
            None => {
                let llvm = Llvm::open(&self.llvm)?;
                self.cache().inspect(|cache| cache.remember(&self.llvm, &llvm));
                llvm
            }
        };
        Ok(self.found.get_or_init(|| llvm).clone())
    }

    /// What the user should know before something is compiled: without libLLVM, that the evaluator runs it, and what to
    /// install.
    pub fn notice(&self) -> Option<String> {
        self.llvm().err().map(|error| notice(&error))
    }

    /// Whether it can run code for a CPU; false without libLLVM.
    pub fn runs(&self, cpu: CpuTarget) -> bool {
        self.llvm().is_ok_and(|llvm| Isa::new(&llvm, CpuTarget::Host).runs(&Isa::new(&llvm, cpu)))
    }

    /// The facts that the compiler needs of the host, or of another CPU; without libLLVM, which knows them, typical values.
    pub fn target(&self, cpu: CpuTarget) -> Target {
        const USUAL_VECTOR_BITS: u32 = 256;
        let bits = self.llvm().map(|llvm| Isa::new(&llvm, cpu).vector_bits);
        let usual = Target::cpu(bits.unwrap_or(USUAL_VECTOR_BITS));
        match self.facts().filter(|_| cpu == CpuTarget::Host) {
            Some(&CpuFacts { threads, bandwidth, throughput, launch, .. }) => {
                usual.measured(bandwidth, throughput, launch, threads)
            }
            None => usual,
        }
    }

    /// The measurements of this machine with this number of threads.
    pub fn facts(&self) -> Option<&CpuFacts> {
        let facts = self.facts.as_ref()?;
        let llvm = self.llvm().ok()?;
        facts.are_of(llvm.spec(CpuTarget::Host).cpu(), self.threads()).then_some(facts)
    }
}

/// The notice about a missing libLLVM.
pub(crate) fn notice(error: &LlvmError) -> String {
    format!("running on the evaluator, which is slow: {error}")
}
