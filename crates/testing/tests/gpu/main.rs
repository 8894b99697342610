//! Calls on a GPU, which the emulator stands in for: tensors in its memory, what goes wrong, many threads.

mod errors;
mod tensors;
mod threads;
