//! Calls on a GPU, which the emulator stands in for: tensors in its memory, products of matrices, what goes wrong, many threads, which device is current.

mod biases;
mod contexts;
mod errors;
mod faults;
mod graphs;
mod matrices;
mod products;
mod shared_memory;
mod tensors;
mod threads;
