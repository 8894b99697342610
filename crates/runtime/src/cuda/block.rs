//! One allocation for all small intermediates of a call: the driver takes a microsecond for each allocation and each free.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use cuda::{DeviceBuffer, Stream};
use ir::array::Layout;
use ops::DType;

use super::tensor::GpuTensor;
use crate::Error;
use crate::tensor::bytes_of;

/// The most bytes of intermediates that are held until the call has ended: a small part of a GPU's last-level cache.
const MAX_BYTES: usize = 4 << 20;
/// What the driver aligns memory to.
const ALIGNMENT: usize = 256;

/// A piece of memory from which tensors are taken, one after the other; none at first.
#[derive(Default)]
pub(crate) struct Block {
    memory: OnceCell<Arc<DeviceBuffer>>,
    taken: Cell<usize>,
}

impl Block {
    /// Allocates memory for tensors of these bytes, if they are several and small. None if memory is poisoned: a check must
    /// see writes beyond the end of a tensor.
    ///
    /// # Errors
    /// What the driver says.
    pub fn reserve(&self, stream: &Arc<Stream>, bytes: impl Iterator<Item = usize>) -> Result<(), Error> {
        let (mut count, mut total) = (0, 0_usize);
        for bytes in bytes {
            count += 1;
            total = total.saturating_add(bytes.checked_next_multiple_of(ALIGNMENT).unwrap_or(usize::MAX));
        }
        if count > 1 && total <= MAX_BYTES && !stream.device().poisons() {
            let _ = self.memory.set(Arc::new(DeviceBuffer::allocate(stream, total)?));
        }
        Ok(())
    }

    /// The next tensor, if there is room.
    pub fn take(&self, dtype: DType, layout: &Layout) -> Option<GpuTensor> {
        let from = self.taken.get();
        let tensor = GpuTensor::within(self.memory.get()?, from, dtype, layout.clone())?;
        self.taken.set((from + bytes_of(dtype, &layout.sizes)?).next_multiple_of(ALIGNMENT));
        Some(tensor)
    }
}
