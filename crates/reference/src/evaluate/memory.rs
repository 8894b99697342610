//! The evaluator's memory: counts the bytes held, and reuses arrays that are done.
//!
//! Pages that the system hands out for the first time cost about as much as an addition of their elements. So unused arrays
//! are kept for a later array of as many bytes, as long as that does not raise the peak.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ir::array::{Array, Layout};
use ops::DType;

use super::EvaluateError;

/// Smaller arrays come from the allocator each time.
const MIN_BYTES: usize = 1 << 16;

/// An evaluation's current, peak and maximum memory.
#[derive(Debug)]
pub(super) struct Meter {
    limit: usize,
    live: AtomicUsize,
    most: AtomicUsize,
    /// Arrays kept for reuse; `None` once the evaluation is over.
    idle: Mutex<Option<Vec<Array>>>,
}

impl Meter {
    pub(super) fn new(limit: usize) -> Arc<Meter> {
        let (live, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Meter { limit, live, most, idle: Mutex::new(Some(Vec::new())) })
    }

    /// An array of zeros, counted until it is dropped.
    pub(super) fn zeros(self: &Arc<Meter>, dtype: DType, sizes: &[usize]) -> Result<Metered, EvaluateError> {
        let bytes = self.admit(dtype, sizes)?;
        self.make_room(bytes);
        Ok(self.counted(Array::zeros(dtype, sizes)?))
    }

    /// An array to be written before it is read: it may hold anything.
    pub(super) fn unwritten(
        self: &Arc<Meter>,
        dtype: DType,
        sizes: &[usize],
    ) -> Result<Metered, EvaluateError> {
        let bytes = self.admit(dtype, sizes)?;
        let waiting = self.idle().as_mut().and_then(|idle| {
            let place = idle.iter().position(|array| array.as_bytes().len() == bytes)?;
            Some(idle.swap_remove(place))
        });
        match waiting {
            Some(array) => Ok(self.counted(array.viewed_as(dtype, sizes))),
            None => {
                self.make_room(bytes);
                Ok(self.counted(Array::unwritten(dtype, sizes)?))
            }
        }
    }

    /// Counts an array until it is dropped.
    pub(super) fn counted(self: &Arc<Meter>, array: Array) -> Metered {
        let bytes = array.as_bytes().len();
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.most.fetch_max(live, Ordering::Relaxed);
        Metered { array: Some(array), meter: Arc::clone(self) }
    }

    /// The most bytes that were held at once.
    pub(super) fn peak_bytes(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// Frees the idle arrays, and keeps none from then on.
    pub(super) fn close(&self) {
        *self.idle() = None;
    }

    /// The bytes of an array, if the limit allows them.
    fn admit(&self, dtype: DType, sizes: &[usize]) -> Result<usize, EvaluateError> {
        let bytes = Layout::dense(sizes).numel().and_then(|numel| numel.checked_mul(dtype.size()));
        let bytes = bytes.ok_or(EvaluateError::Memory { bytes: usize::MAX })?;
        let total = bytes.checked_add(self.live.load(Ordering::Relaxed));
        match total.ok_or(EvaluateError::Memory { bytes: usize::MAX })? {
            total if total > self.limit => Err(EvaluateError::Memory { bytes: total }),
            _ => Ok(bytes),
        }
    }

    /// Frees the idle arrays if they would raise the peak.
    fn make_room(&self, bytes: usize) {
        let most = self.most.load(Ordering::Relaxed);
        let mut idle = self.idle();
        let Some(idle) = idle.as_mut() else { return };
        let waiting: usize = idle.iter().map(|array| array.as_bytes().len()).sum();
        if self.live.load(Ordering::Relaxed) + bytes + waiting > most {
            idle.clear();
        }
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<Array>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops counting an array, and keeps it for reuse if it is large enough.
    fn retire(&self, array: Array) {
        let bytes = array.as_bytes().len();
        self.live.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(idle) = self.idle().as_mut().filter(|_| bytes >= MIN_BYTES) {
            idle.push(array);
        }
    }
}

/// An array that a meter counts while it lives.
#[derive(Debug)]
pub(super) struct Metered {
    /// Always there until it is taken out by value.
    array: Option<Array>,
    meter: Arc<Meter>,
}

impl Metered {
    pub(super) fn array(&self) -> &Array {
        self.array.as_ref().expect("taken out by value only")
    }

    pub(super) fn array_mut(&mut self) -> &mut Array {
        self.array.as_mut().expect("taken out by value only")
    }

    /// The same memory as an array of another dtype and other sizes, with equally many bytes.
    pub(super) fn viewed_as(mut self, dtype: DType, sizes: &[usize]) -> Metered {
        self.array = self.array.take().map(|array| array.viewed_as(dtype, sizes));
        self
    }

    pub(super) fn into_array(mut self) -> Array {
        let array = self.array.take().expect("taken out by value only");
        self.meter.live.fetch_sub(array.as_bytes().len(), Ordering::Relaxed);
        array
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        if let Some(array) = self.array.take() {
            self.meter.retire(array);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_never_adds_to_the_most() {
        let meter = Meter::new(usize::MAX);
        let sizes = [MIN_BYTES / 4];
        let first = meter.zeros(DType::F32, &sizes).expect("memory");
        let place = first.array().as_bytes().as_ptr();
        drop(first);
        let again = meter.unwritten(DType::I32, &sizes).expect("memory");
        assert_eq!(again.array().as_bytes().as_ptr(), place);
        drop(again);
        // One byte more does not fit beside the idle arrays.
        drop(meter.unwritten(DType::Bool, &[MIN_BYTES + 1]).expect("memory"));
        let held: usize = meter.idle().iter().flatten().map(|array| array.as_bytes().len()).sum();
        assert!(held <= MIN_BYTES + 1, "{held} bytes wait");
        meter.close();
        drop(meter.zeros(DType::F32, &sizes).expect("memory"));
        assert!(meter.idle().is_none());
    }
}
