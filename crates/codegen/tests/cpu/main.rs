//! Compiled kernels against the kernel interpreter, on the same memory, for every target this machine can run.

mod accesses;
mod accuracy;
mod accuracy_of_doubles;
mod casts;
mod contraction;
mod deinterleave;
mod draws;
mod externals;
mod folds;
mod harness;
mod integer_min_max;
mod interrupts;
mod long_sums;
mod primitives;
mod targets;
mod transposes;
