//! Definition files from outside: accepted and rejected ones, the diagnostics, and that the reader never panics.

mod accepted;
mod arithmetic;
mod examples;
mod graphs;
mod inputs;
mod mutated;
mod rejected;
mod rejected_calls;
