//! From a kernel program to executable form: LLVM IR, and C in dialects such as CUDA. Takes no decisions.

pub mod c;
pub mod cpu;
pub mod cuda;
