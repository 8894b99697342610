//! Handwritten and random kernels: their results, rejections, races, and printing.

mod computed;
mod races;
mod random;
mod rejected;
mod text;
mod uniform;
mod warps;

use kernel::{Kernel, parse};

/// The kernel of a valid text.
fn kernel(text: &str) -> Kernel {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
