//! From a kernel program to machine code of a CPU, by LLVM IR. Takes no decisions.

pub mod cpu;
