//! Definition files from outside: what is rejected and how, what is accepted, and that nothing makes the reader panic.

mod accepted;
mod graphs;
mod inputs;
mod mutated;
mod rejected;
mod rejected_calls;
