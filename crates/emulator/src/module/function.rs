//! A kernel of a module, and its launches: takes sizes, an order and arguments, gives counts or an error. Launches of the
//! whole library happen one at a time, because each takes over the process's fault signals while it runs.

use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

use super::Module;
use crate::Error;
use crate::launch::{Arg, Launch, LaunchEntry, Order, Report, Request, Stats, check_sizes};

/// A kernel of a module.
#[derive(Clone, Debug)]
pub struct Function {
    pub(super) name: String,
    /// The letters that `device/launch.h` gives its parameters.
    pub(super) signature: String,
    /// Bytes of each parameter.
    pub(super) parameter_bytes: Vec<u32>,
    /// Bytes of its `__shared__` variables.
    pub(super) static_shared_bytes: u64,
    /// Blocks of a cluster.
    pub(super) cluster: u32,
    pub(super) entry: LaunchEntry,
    /// Keeps the entry loaded.
    pub(super) _module: Module,
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl Function {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of its `__shared__` variables.
    pub fn static_shared_bytes(&self) -> u64 {
        self.static_shared_bytes
    }

    /// The letters of its parameters, as [`Arg`] has them, and the bytes of each.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (char, usize)> {
        self.signature.chars().zip(self.parameter_bytes.iter().map(|&bytes| bytes as usize))
    }

    /// Whether each parameter is one that an [`Arg`] can be.
    pub(crate) fn takes_known_kinds(&self) -> bool {
        !self.signature.contains('?')
    }

    /// Runs the kernel over the whole grid and returns when it has ended.
    ///
    /// # Safety
    /// Every [`Arg::Pointer`], and every address in an [`Arg::Table`], must be valid for whatever the kernel reads and writes
    /// through it, and no reference may watch that memory meanwhile. Put buffers into [`GuardedBuffer`](crate::GuardedBuffer)s to have accesses
    /// beyond their ends reported.
    ///
    /// # Errors
    /// [`Error::BadLaunch`] before anything runs; [`Error::Kernel`] when a barrier is missed, memory is misused or
    /// the threads deadlock: the buffers then hold whatever was written until then.
    pub unsafe fn launch(&self, launch: &Launch, args: &[Arg]) -> Result<Stats, Error> {
        self.check_sizes(launch)?;
        self.check_arguments(args)?;
        let mut words: Vec<u64> = args.iter().map(|arg| arg.word()).collect();
        let place = |(arg, word): (&Arg, &mut u64)| match *arg {
            Arg::Table { words, .. } => words.cast_mut().cast(),
            _ => (word as *mut u64).cast(),
        };
        let mut addresses: Vec<*mut c_void> = args.iter().zip(&mut words).map(place).collect();
        let mut report = Report { stats: Stats::default(), message: [0; 2048] };
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: request and report match their C++ twins, each address points at a word that holds its parameter
        // (checked above), and the caller answers for the pointers among them.
        let failed = unsafe { (self.entry)(&self.request(launch), addresses.as_mut_ptr(), &mut report) } != 0;
        if failed {
            // SAFETY: the C++ side ended the message with a zero, and the report lives on.
            let text = unsafe { CStr::from_ptr(report.message.as_ptr()) }.to_string_lossy().into_owned();
            return Err(Error::Kernel { kernel: self.name.clone(), text });
        }
        Ok(report.stats)
    }

    /// Rejects sizes that the driver rejects.
    pub(crate) fn check_sizes(&self, launch: &Launch) -> Result<(), Error> {
        check_sizes(launch)?;
        if launch.grid[0].is_multiple_of(self.cluster) {
            return Ok(());
        }
        let (blocks, cluster) = (launch.grid[0], self.cluster);
        Err(Error::BadLaunch(format!("{blocks} blocks are no clusters of {cluster}")))
    }

    fn request(&self, launch: &Launch) -> Request {
        let (order, seed) = match launch.order {
            Order::Forward => (0, 0),
            Order::Reverse => (1, 0),
            Order::Random(seed) => (2, seed),
        };
        let dynamic_shared_bytes = launch.dynamic_shared_bytes as u64;
        let static_shared_bytes = self.static_shared_bytes;
        Request {
            grid: launch.grid,
            block: launch.block,
            static_shared_bytes,
            dynamic_shared_bytes,
            seed,
            order,
            cluster: self.cluster,
        }
    }

    fn check_arguments(&self, args: &[Arg]) -> Result<(), Error> {
        let given: String = args.iter().map(|arg| arg.letter()).collect();
        let expected = self.signature.replace('r', "p");
        let fits = |(arg, &bytes): (&Arg, &u32)| match *arg {
            Arg::Table { count, .. } => 8 * count == bytes as usize,
            _ => true,
        };
        if expected == given && args.iter().zip(&self.parameter_bytes).all(fits) {
            return Ok(());
        }
        Err(Error::BadLaunch(format!(
            "kernel `{}` takes ({}), the arguments are ({})",
            self.name,
            spell(&expected),
            spell(&given)
        )))
    }
}

fn spell(letters: &str) -> String {
    let name = |letter| match letter {
        'p' => "pointer",
        'l' => "64-bit integer",
        'i' => "32-bit integer",
        'f' => "float",
        'd' => "double",
        's' => "structure of 64-bit words",
        _ => "something no argument can be",
    };
    letters.chars().map(name).collect::<Vec<_>>().join(", ")
}
