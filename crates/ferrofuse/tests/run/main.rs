//! Definitions from text to outputs, through every executor.

mod calls;
mod definitions;
mod executors;
mod explained;
mod machine;
mod refusals;
mod tensors;
