//! File tests, random programs, differential checks, the CUDA emulator.
//!
//! `random` (programs, segmentations, schedules) · `differential` (every executor against the evaluator) · `reduce`
//! (failures made small) · `fuzz` (many seeds) · `emulator` (CUDA C++ on the CPU).

pub mod differential;
pub mod emulator;
pub mod fuzz;
pub mod random;
pub mod reduce;
