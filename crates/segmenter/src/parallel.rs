//! Two independent parts of a compilation at the same time.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Address space of the stack of a thread that compiles; memory is taken as far as it is used. Passes and libLLVM recurse over deep
/// programs.
pub const STACK: usize = 256 << 20;

/// The results of two functions: the second runs on its own thread, or after the first if the system gives no thread.
pub fn join<A, B: Send>(first: impl FnOnce() -> A, second: impl Fn() -> B + Sync) -> (A, B) {
    scope(|scope| match Builder::new().stack_size(STACK).spawn_scoped(scope, &second) {
        Ok(thread) => (first(), thread.join().unwrap_or_else(|panic| resume_unwind(panic))),
        Err(_) => (first(), second()),
    })
}
