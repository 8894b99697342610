//! Definition files from outside: what is rejected and how, what is accepted, and that nothing makes the reader panic.

mod accepted;
mod mutated;
mod rejected;
