//! Kernels written by hand and at random: what they compute, what is rejected, what races, how they print.

mod computed;
mod races;
mod random;
mod rejected;
mod text;
mod uniform;
mod warps;

use kernel::{Kernel, parse};

/// The kernel of a text that is right.
fn kernel(text: &str) -> Kernel {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
