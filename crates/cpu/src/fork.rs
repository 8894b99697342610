//! Sections that a `fork` must not interrupt. A child has only the thread that forked: locks that another thread held at
//! that moment stay locked in it forever. So a `fork` waits until no thread is in a section that takes such locks.
//!
//! There are two kinds of sections: [`unforked`] ones, which compile or create the process's singletons, and moments in
//! which something is locked ([`ForkLock`]). A moment may be within the former, and nothing within a moment. While a `fork`
//! waits for a compilation, new sections wait to begin, but calls of compiled code continue. The pool needs none of this: a
//! child gets its own threads. A `fork` in the instant in which the first section of the process sets this up is not
//! delayed.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static UNFORKED: RwLock<()> = RwLock::new(());
static MOMENT: RwLock<()> = RwLock::new(());

/// No `fork` of the process happens as long as it lives.
type Section = RwLockReadGuard<'static, ()>;

thread_local! {
    /// Whether the thread is in an unforked section.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// The end of an unforked section, also by a panic.
struct Unforked(#[expect(dead_code, reason = "held")] Section);

impl Drop for Unforked {
    fn drop(&mut self) {
        WITHIN.set(false);
    }
}

/// Does something while no `fork` of the process happens: one that comes meanwhile waits for the end. It may be nested in
/// another of the same thread; it must neither fork nor wait for a thread that begins one.
pub fn unforked<R>(work: impl FnOnce() -> R) -> R {
    if WITHIN.get() {
        return work();
    }
    let _section = Unforked(enter(&UNFORKED));
    WITHIN.set(true);
    work()
}

/// Whether no section compiles anything: interrupted work, left to end in the background, has ended.
pub fn has_ended() -> bool {
    // A thread that begins one meanwhile waits for a moment.
    UNFORKED.try_write().is_ok()
}

fn enter(sections: &'static RwLock<()>) -> Section {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(|| {
        // SAFETY: the handlers are functions of this file, which is never unloaded; they run on the thread that forks. Where the
        // system has no room for them, a `fork` waits for nothing, as before.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
    });
    sections.read().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// The guards that the thread holds while it forks.
    static HELD: RefCell<Option<[RwLockWriteGuard<'static, ()>; 2]>> = const { RefCell::new(None) };
}

extern "C" fn before() {
    let held = [&UNFORKED, &MOMENT].map(|sections| sections.write().unwrap_or_else(PoisonError::into_inner));
    // A thread that is about to end has no place for them; it opens the sections again at once.
    let _ = HELD.try_with(|place| place.replace(Some(held)));
}

/// In the parent and in the child.
extern "C" fn after() {
    let _ = HELD.try_with(RefCell::take);
}

/// A lock that no child finds locked. The guarded value is consistent between any two statements that can panic.
#[derive(Debug, Default)]
pub struct ForkLock<T>(Mutex<T>);

impl<T> ForkLock<T> {
    /// A lock around a value.
    pub fn new(value: T) -> ForkLock<T> {
        ForkLock(Mutex::new(value))
    }

    /// Locks it for a moment: nothing else may be locked, and nothing compiled, until it is unlocked.
    pub fn lock(&self) -> Locked<'_, T> {
        let section = enter(&MOMENT);
        Locked { value: self.0.lock().unwrap_or_else(PoisonError::into_inner), _section: section }
    }
}

/// A locked value. It is unlocked before a `fork` may proceed.
pub struct Locked<'l, T> {
    value: MutexGuard<'l, T>,
    _section: Section,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::unforked;
    use crate::tests::in_a_child;

    #[test]
    fn a_fork_waits_for_the_outermost_section() {
        let ended = AtomicBool::new(false);
        let (begun, begins) = mpsc::channel();
        let section = || {
            begun.send(()).expect("awaited");
            thread::sleep(Duration::from_millis(50));
            unforked(|| thread::sleep(Duration::from_millis(20)));
            ended.store(true, Ordering::SeqCst);
        };
        thread::scope(|scope| {
            scope.spawn(|| unforked(section));
            begins.recv().expect("begun");
            in_a_child(|| assert!(ended.load(Ordering::SeqCst)));
        });
    }
}
