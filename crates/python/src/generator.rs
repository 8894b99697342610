//! The state of random numbers that all definitions of the process draw from.

use ferrofuse::{Generator, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Starts the sequence of a seed, a whole number from 0 to 2**64 - 1: the next draws are those of (seed, 0), (seed, 1), …
#[pyfunction]
pub fn manual_seed(seed: &Bound<'_, PyAny>) -> PyResult<()> {
    Generator::shared().seed(whole(seed, "seed")?);
    Ok(())
}

fn whole(number: &Bound<'_, PyAny>, name: &str) -> PyResult<u64> {
    number.extract::<u64>().map_err(|_| {
        PyValueError::new_err(format!("{name}: expected a whole number from 0 to 2**64 - 1, not {number}"))
    })
}

/// The seed, and the offset that the next draw takes.
#[pyfunction]
pub fn get_rng_state() -> (u64, u64) {
    let Stream { seed, offset } = Generator::shared().state();
    (seed, offset)
}

/// Continues from a seed and an offset.
#[pyfunction]
pub fn set_rng_state(seed: &Bound<'_, PyAny>, offset: &Bound<'_, PyAny>) -> PyResult<()> {
    let (seed, offset) = (whole(seed, "seed")?, whole(offset, "offset")?);
    Generator::shared().set_state(Stream { seed, offset });
    Ok(())
}
