//! Compiled kernels against the kernel interpreter, on the same memory, for every target this machine can run.

mod accesses;
mod accuracy;
mod accuracy_of_doubles;
mod casts;
mod draws;
mod folds;
mod harness;
mod keys;
mod primitives;
mod products;
mod targets;
mod transposes;
mod words;
