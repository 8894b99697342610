//! From a kernel program to machine code of a CPU, by LLVM IR. Decides nothing.

pub mod cpu;
