//! The last-call cache: results of a call, kept for the next one; recomputing them takes as long as a small kernel.
//!
//! Nobody waits here: a call that finds the cache in use recomputes them.

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
    /// The cached value, unless another thread is using the cache.
    pub fn get(&self) -> Option<Arc<T>> {
        self.with(|kept| kept.clone()).flatten()
    }

    /// Caches a value in place of the previous one, unless another thread is using the cache.
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
