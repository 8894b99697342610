//! The last-call cache: what a call came to, kept for the next one; asking again takes as long as a small kernel.
//!
//! Nobody waits here: a call that finds another looking asks for itself.

use std::sync::{Arc, Mutex, TryLockError};

use ir::array::Layout;
use ir::graph::Sizes;
use ops::DType;
use smallvec::SmallVec;

use crate::compile::Variant;

/// A cache of one value.
#[derive(Debug)]
pub(crate) struct LastCall<T>(Mutex<Option<Arc<T>>>);

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

/// What the inputs of a call determine by their layouts, whatever their elements are.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Element types of the inputs, with their sizes and strides.
    pub forms: SmallVec<[(DType, Layout); 4]>,
    /// The values of size symbols.
    pub sizes: Sizes,
    /// What was compiled for such calls.
    pub variant: Arc<Variant>,
    /// Whether nothing in the call is worth a second thread.
    pub is_short: bool,
}

impl Prepared {
    /// Whether it is for inputs with these layouts, wherever they begin.
    pub fn is_for<'v>(&self, inputs: impl ExactSizeIterator<Item = (DType, &'v Layout)>) -> bool {
        let alike = |(known, (dtype, layout)): (&(DType, Layout), (DType, &Layout))| {
            known.0 == dtype && known.1.sizes == layout.sizes && known.1.strides == layout.strides
        };
        self.forms.len() == inputs.len() && self.forms.iter().zip(inputs).all(alike)
    }
}
