//! What tests set and query: functions that a real driver lacks.

use std::ffi::{c_char, c_int};
use std::sync::atomic::Ordering;

use super::allocations::Allocation;
use super::clock;
use super::ffi::Text;
use super::matmul::CUBLAS_OBJECTS;
use super::state::{Driver, driver, message};

/// What a test may ask for.
fn count(driver: &Driver, key: &str) -> Option<u64> {
    let of_device = |allocation: &&Allocation| !allocation.is_host();
    let device = || driver.allocations.iter().filter(of_device);
    Some(match key {
        "allocations" => device().count() as u64,
        "bytes" => device().map(|allocation| allocation.bytes as u64).sum(),
        "host_allocations" => {
            driver.allocations.iter().filter(|allocation| allocation.is_host()).count() as u64
        }
        "contexts" => driver.contexts.len() as u64,
        "modules" => driver.modules.len() as u64,
        // Each context has a default stream.
        "streams" => own_streams(driver) as u64,
        "events" => driver.events.len() as u64,
        "cublas_objects" => CUBLAS_OBJECTS.load(Ordering::Relaxed),
        "graphs" => (driver.graphs.len() + driver.executables.len()) as u64,
        "pending" => driver.queue.iter().count() as u64,
        "launches" => driver.launches,
        "taken" => driver.taken,
        "calls" => clock::CALLS.load(Ordering::Relaxed),
        "nanoseconds" => clock::NANOSECONDS.load(Ordering::Relaxed),
        _ => return None,
    })
}

/// Streams that were made by `cuStreamCreate`.
fn own_streams(driver: &Driver) -> usize {
    let defaults = driver.contexts.iter().map(|(_, context)| 1 + context.per_thread.len());
    driver.streams.len() - defaults.sum::<usize>()
}

/// Sets the value of `key`; 0 if the key exists and may have this value.
#[unsafe(no_mangle)]
extern "C" fn ferrofuse_stand_in_set(key: Text, value: u64) -> c_int {
    let Ok(key) = key.read() else { return 1 };
    c_int::from(!driver().settings.set(&key, value))
}

/// The count named `key`; the largest number if there is no such count.
#[unsafe(no_mangle)]
extern "C" fn ferrofuse_stand_in_get(key: Text) -> u64 {
    key.read().ok().and_then(|key| count(&driver(), &key)).unwrap_or(u64::MAX)
}

/// Why this thread's latest failed call failed.
#[unsafe(no_mangle)]
extern "C" fn ferrofuse_stand_in_message() -> *const c_char {
    message()
}
