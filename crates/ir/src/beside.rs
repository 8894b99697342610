//! Two functions at once, for compilers of which parts depend on nothing of each other.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Address space of the stack of a thread that compiles; memory is taken as far as it is used. Passes and libLLVM recurse over deep
/// programs.
pub const STACK: usize = 256 << 20;

/// Does the second on a thread of its own while this one does the first; one after the other where the system gives no thread.
pub fn beside<A, B: Send>(first: impl FnOnce() -> A, second: impl Fn() -> B + Sync) -> (A, B) {
    scope(|scope| match Builder::new().stack_size(STACK).spawn_scoped(scope, &second) {
        Ok(thread) => (first(), thread.join().unwrap_or_else(|panic| resume_unwind(panic))),
        Err(_) => (first(), second()),
    })
}
