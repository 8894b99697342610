//! The last-call cache: what a call came to, kept for the next one; asking again takes as long as a small kernel.
//!
//! Nobody waits here: a call that finds another looking asks for itself.

use std::sync::{Arc, Mutex, TryLockError};

/// A cache of one value.
#[derive(Debug)]
pub struct LastCall<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for LastCall<T> {
    fn default() -> LastCall<T> {
        LastCall(Mutex::default())
    }
}

impl<T> LastCall<T> {
    /// The value that was kept, unless another thread is looking.
    pub fn get(&self) -> Option<Arc<T>> {
        self.with(|kept| kept.clone()).flatten()
    }

    /// Keeps a value in place of the one before, unless another thread is looking.
    pub fn keep(&self, value: &Arc<T>) {
        self.with(|kept| *kept = Some(Arc::clone(value)));
    }

    fn with<R>(&self, change: impl FnOnce(&mut Option<Arc<T>>) -> R) -> Option<R> {
        match self.0.try_lock() {
            Ok(mut kept) => Some(change(&mut kept)),
            Err(TryLockError::Poisoned(kept)) => Some(change(&mut kept.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
