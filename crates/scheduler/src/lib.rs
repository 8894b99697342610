//! A group of values as one kernel: whether it can be one, and which choices make it fast. Pure functions: no I/O, no
//! clock, no environment.
//!
//! `hints`, `cycles` (facts that choices depend on) · `legal` (the witness that a group can be one kernel, or the
//! reason why not) · `schedule` (the choices within a kernel).
//! `space` has the axes that a group shares; `segmenter` decides which groups there are, `lowering` emits their loops.

pub mod cycles;
pub mod hints;
pub mod legal;
pub mod schedule;
