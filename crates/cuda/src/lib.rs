//! NVIDIA's driver, NVRTC and cuBLASLt, found at run time: devices, streams, memory, compiled kernels, products of matrices.
//!
//! `library` (opened by `dlopen`) · `driver`, `nvrtc` and `cublaslt` (their functions) · `gpu` (a device: its context and facts) · `stream` ·
//! `event` · `graph` (work of a stream, captured) · `memory`, `mapped` (of devices, of the host) · `reports` (of kernels to the host) · `module` (machine code and its kernels) · `strided_copy` · `cubin` (what machine code says of them) ·
//! `matmul` (products of matrices) · `error`. Nothing here links against CUDA, reads the environment, or knows
//! what a kernel means.
//!
//! The functions are those of the headers of CUDA 12; every driver since 11.4 has them.

mod cubin;
mod cublaslt;
mod driver;
mod error;
mod event;
mod gpu;
mod graph;
mod library;
mod mapped;
mod matmul;
mod memory;
mod module;
mod nvrtc;
mod reports;
mod stream;
mod strided_copy;

pub use cubin::ThreadResources;
pub use cublaslt::CublasLt;
pub use error::{Error, INSTALL};
pub use event::Event;
pub use gpu::{Cuda, DriverSummary, Entered, Gpu, GpuFacts};
pub use graph::Graph;
pub use library::LibraryPaths;
pub use matmul::{Batch, CublasLtHandle, Matmul, MatmulShape, MatrixLayout, MatrixType};
pub use memory::DeviceBuffer;
pub use module::{Function, KernelResources, LaunchShape, Module};
pub use nvrtc::{Cubin, Nvrtc};
pub use reports::{GraphWords, Reports, Words, WrittenWords};
pub use stream::Stream;
pub use strided_copy::{CopyAxis, StridedCopy};
