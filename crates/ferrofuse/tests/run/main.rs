//! Definitions from text to outputs, through every executor.

mod calls;
mod definitions;
mod examples;
mod executors;
mod explained;
mod in_place;
mod machine;
mod random;
mod refusals;
mod tensors;
