//! The end of the process. `exit` runs libLLVM's destructors while other threads go on, so it first waits until none of them
//! compiles, and none begins to any more.
//!
//! Handlers of `exit` run in reverse order, and libLLVM registers destructors not only when it is loaded but whenever it
//! first uses a static variable. So the handler that waits is registered again between the steps of compilations. A process
//! that ends within the step that first uses such a variable can still go wrong.

use std::cell::Cell;
use std::mem::forget;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Once, PoisonError, RwLock, RwLockReadGuard};

static COMPILING: RwLock<()> = RwLock::new(());

/// Later compilations use few variables for the first time.
const MAX_HANDLERS: u32 = 512;

thread_local! {
    /// Whether the thread compiles: libLLVM itself may end the process, which then waits for nothing.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// A section within which `exit` by other threads does not go on.
pub struct Compiling(#[expect(dead_code, reason = "held")] RwLockReadGuard<'static, ()>);

impl Compiling {
    /// Begins one, after the library was opened.
    pub fn begin() -> Compiling {
        let section = COMPILING.read().unwrap_or_else(PoisonError::into_inner);
        WITHIN.set(true);
        let compiling = Compiling(section);
        compiling.between_steps();
        compiling
    }

    /// Has `exit` wait before it runs the destructors that libLLVM has registered so far.
    pub fn between_steps(&self) {
        static HANDLERS: AtomicU32 = AtomicU32::new(0);
        if HANDLERS.load(Ordering::Relaxed) < MAX_HANDLERS {
            HANDLERS.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the handler is a function of this file, which is never unloaded. Where the system has no room for it,
            // the process ends without waiting.
            unsafe { libc::atexit(wait) };
        }
    }
}

impl Drop for Compiling {
    fn drop(&mut self) {
        self.between_steps();
        WITHIN.set(false);
    }
}

extern "C" fn wait() {
    static HELD: Once = Once::new();
    if !WITHIN.get() {
        HELD.call_once(|| forget(COMPILING.write().unwrap_or_else(PoisonError::into_inner)));
    }
}
