//! NVIDIA's GPUs as devices: kernels as CUDA C++ through NVRTC, tensors in the GPU's memory, work in the order of a stream.
//!
//! `device` (a GPU, opened, and its facts for the compiler) · `accelerator` (the interface for executables) · `tensor` (its
//! memory) · `machine_code` (of kernels, compiled or kept) · `code` (loaded) · `member_table` (parameters of a launch) · `block` (of intermediates) · `steps` (the
//! steps of a call) · `products` (of matrices, by cuBLASLt) · `faults` (indices out of range) · `strided_copy`.

mod accelerator;
mod block;
mod code;
mod device;
mod faults;
mod machine_code;
mod member_table;
mod products;
mod steps;
mod strided_copy;
mod tensor;

pub use device::CudaDevice;
pub use machine_code::{GpuCodeError, GpuCompiler};
pub use tensor::{GpuArgument, GpuTensor};

pub(crate) use accelerator::open;
pub(crate) use faults::{GraphFaults, Located, Telling, Watched};
pub(crate) use steps::OnStream;
pub(crate) use tensor::{GpuMemory, GpuView};
