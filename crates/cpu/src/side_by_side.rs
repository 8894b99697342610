//! Work on many items by several threads with a compiler's stack.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ir::interrupt::{Interrupt, Interrupted};

/// Stack of a compiling thread: LLVM recurses over deep code.
const STACK: usize = 16 << 20;

/// What `make` makes of each item, in their order; `threads` threads take one item at a time.
///
/// # Errors
/// When it is interrupted between two.
pub fn side_by_side<T: Sync, R: Send + Sync>(
    items: &[T],
    threads: usize,
    interrupt: &Interrupt,
    make: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, Interrupted> {
    let made: Vec<OnceLock<R>> = items.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place).filter(|_| !interrupt.is_requested()) else { return };
            made[place].get_or_init(|| make(item));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            // If the system gives no thread, the last one below does all remaining work.
            let _ = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
    });
    work();
    interrupt.check()?;
    let made = made.into_iter().map(OnceLock::into_inner);
    Ok(made.map(|made| made.expect("every item was taken by some thread")).collect())
}
