//! File tests, random programs, differential checks, the CUDA emulator.

pub mod emulator;
