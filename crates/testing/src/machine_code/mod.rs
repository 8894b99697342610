//! The machine code of NVIDIA's own compiler for our CUDA C++, without a GPU: registers, spills, and the instructions of
//! each kernel.
//!
//! `make setup` downloads NVRTC and nvdisasm to `.cuda-tools`; if they are missing, [`Tools::find`] says so.

mod counts;
mod nvrtc;

pub use counts::Counts;
pub use nvrtc::{CompileError, Tools};
