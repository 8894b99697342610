//! The state of random numbers between calls: a seed, and how many draws there were since it was set.
//!
//! Each call of a definition takes an offset for each of its draws; successive draws are those of `(seed, 0)`, `(seed, 1)`,
//! … Executables have a generator each, or share one.

use std::sync::{Arc, OnceLock};

use ir::graph::Stream;

use crate::fork::{ForkLock, unforked};

/// A generator that any number of executables and threads may draw from.
#[derive(Debug, Default)]
pub struct Generator {
    stream: ForkLock<Stream>,
}

impl Generator {
    /// A generator at the beginning of a seed's sequence.
    pub fn new(seed: u64) -> Generator {
        Generator { stream: ForkLock::new(Stream::new(seed)) }
    }

    /// The generator of the process, of seed 0 until another is set.
    pub fn shared() -> Arc<Generator> {
        static SHARED: OnceLock<Arc<Generator>> = OnceLock::new();
        unforked(|| Arc::clone(SHARED.get_or_init(Arc::default)))
    }

    /// The seed, and the offset that the next draw takes.
    pub fn state(&self) -> Stream {
        *self.stream.lock()
    }

    /// Continues from a seed and an offset, those of an earlier [`Generator::state`] or of another library.
    pub fn set_state(&self, stream: Stream) {
        *self.stream.lock() = stream;
    }

    /// Begins the sequence of a seed, as `manual_seed` of torch does.
    pub fn seed(&self, seed: u64) {
        self.set_state(Stream::new(seed));
    }

    /// Takes the offsets of `draws` draws, and returns where they begin.
    pub fn take(&self, draws: u32) -> Stream {
        let mut stream = self.stream.lock();
        let begin = *stream;
        stream.offset = stream.offset.wrapping_add(u64::from(draws));
        begin
    }
}
