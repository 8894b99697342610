//! From a kernel program to executable form: LLVM IR and CUDA C++. Takes no decisions.

pub mod cpu;
pub mod cuda;
