//! What NVIDIA's own compiler makes of our CUDA C++, without a GPU: registers, spills, and the instructions of each kernel.
//!
//! NVRTC and nvdisasm are fetched by `make setup` into `.cuda-tools`; where they are not there, [`Tools::find`] says so.

mod counts;
mod nvrtc;

pub use counts::Counts;
pub use nvrtc::{CompileError, Tools};
