//! Arrays of a GPU: those that came in (`input`), our class (`array`), and what a call gives (`output`).

mod array;
mod input;
mod output;

pub use array::{GpuArray, to_gpu};
pub use input::{Holder, InputOnGpu};
pub use output::{KindOnGpu, OutputsOnGpu};
