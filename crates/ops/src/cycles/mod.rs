//! Cycles of scalar ops, a table for each kind of machine: of a vector of elements on a CPU, of an element on a GPU's lane.

pub mod cpu;
pub mod gpu;
