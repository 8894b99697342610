//! The state of random numbers that all definitions of the process draw from.

use ferrofuse::{Generator, Stream};
use pyo3::prelude::*;

/// Begins the sequence of a seed: draws are then those of (seed, 0), (seed, 1), …
#[pyfunction]
pub fn manual_seed(seed: u64) {
    Generator::shared().seed(seed);
}

/// The seed, and the offset that the next draw takes.
#[pyfunction]
pub fn get_rng_state() -> (u64, u64) {
    let Stream { seed, offset } = Generator::shared().state();
    (seed, offset)
}

/// Goes on from a seed and an offset.
#[pyfunction]
pub fn set_rng_state(seed: u64, offset: u64) {
    Generator::shared().set_state(Stream { seed, offset });
}
