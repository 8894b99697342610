//! What graphs and kernels mean, each by its interpreter.

mod evaluator;
mod kernel;
