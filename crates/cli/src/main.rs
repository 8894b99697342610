//! The `ferrofuse` binary.
fn main() {}
