//! Arrays of a GPU: inputs (`input`), our class (`array`), and outputs of a call (`output`).

mod array;
mod input;
mod output;

pub use array::{GpuArray, to_gpu};
pub use input::{Holder, InputOnGpu};
pub use output::{KindOnGpu, OutputsOnGpu};
