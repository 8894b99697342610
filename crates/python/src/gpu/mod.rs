//! GPUs of the process: opened ones, places in their memory, and the libraries that have streams on them.

pub mod device;
mod library;

use ferrofuse::DType;
use ir::array::Layout;

pub use device::OpenDevice;
pub use library::Streams;

/// A place in the memory of a GPU.
#[derive(Clone, Debug)]
pub struct OnGpu {
    /// The number of the GPU.
    pub ordinal: usize,
    /// The address of the element at index zero.
    pub address: u64,
    /// Element type.
    pub dtype: DType,
    /// Sizes and strides, in elements.
    pub layout: Layout,
}
