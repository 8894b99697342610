//! A group of values as one kernel: whether it can be one, which choices make it fast, and its loops. Pure functions: no
//! I/O, no clock, no environment.
//!
//! `hints`, `cycles` (facts that choices depend on) · `legal` (the witness that a group can be one kernel, or the
//! reason why not) · `schedule` (the choices within a kernel) · `lower` (kernel programs).
//! `space` has the axes that a group shares; `compiler` decides which groups there are.

pub mod cycles;
pub mod hints;
pub mod legal;
pub mod lower;
pub mod schedule;
