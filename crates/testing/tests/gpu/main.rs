//! Calls on a GPU, with the emulator in its place: tensors in its memory, launches of several members, products of matrices, errors, many threads, the
//! current device.

mod batches;
mod biases;
mod compile_times;
mod contexts;
mod errors;
mod faults;
mod graphs;
mod matrices;
mod products;
mod shared_memory;
mod tensors;
mod threads;
