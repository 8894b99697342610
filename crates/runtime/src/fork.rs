//! What a `fork` must not cut in two. A child has only the thread that forked: what another thread had locked at that moment
//! stays locked in it for ever. So a `fork` waits until no thread is in a section that takes such locks.
//!
//! There are two kinds of sections, as the one may stand within the other: looking for a variant, which may compile it, and
//! moments in which something is locked. A section never stands in one of its own kind. Without work for libLLVM a `fork` waits
//! for less than a microsecond. The pool needs none of it: a child gets threads of its own.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static COMPILING: RwLock<()> = RwLock::new(());
static MOMENT: RwLock<()> = RwLock::new(());

/// No `fork` of the process happens as long as it lives.
pub(crate) type Section = RwLockReadGuard<'static, ()>;

/// A section in which a variant is looked for, and compiled where there is none.
pub(crate) fn compiling() -> Section {
    enter(&COMPILING)
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
    /// What the thread holds while it forks.
    static HELD: RefCell<Option<[RwLockWriteGuard<'static, ()>; 2]>> = const { RefCell::new(None) };
}

extern "C" fn before() {
    let held = [&COMPILING, &MOMENT].map(|sections| sections.write().unwrap_or_else(PoisonError::into_inner));
    // A thread that is about to end has no place for them; it opens the sections again at once.
    let _ = HELD.try_with(|place| place.replace(Some(held)));
}

/// In the parent and in the child.
extern "C" fn after() {
    let _ = HELD.try_with(RefCell::take);
}

/// A lock that no child finds locked. What it guards is consistent between any two statements that can panic.
#[derive(Debug, Default)]
pub(crate) struct ForkLock<T>(Mutex<T>);

impl<T> ForkLock<T> {
    /// A lock around a value.
    pub fn new(value: T) -> ForkLock<T> {
        ForkLock(Mutex::new(value))
    }

    /// Locks it for a moment: nothing else is locked, and nothing compiled, until it is let go.
    pub fn lock(&self) -> Locked<'_, T> {
        let section = enter(&MOMENT);
        Locked { value: self.0.lock().unwrap_or_else(PoisonError::into_inner), _section: section }
    }
}

/// A value that is locked. It is let go before a `fork` may go on.
pub(crate) struct Locked<'l, T> {
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
