//! Definitions from text to outputs, through every executor.

mod calls;
mod definitions;
mod examples;
mod executors;
mod explained;
mod machine;
mod refusals;
mod tensors;
