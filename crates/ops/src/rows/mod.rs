//! The rows of the primitives, by theme. The list of all is at the root of the crate.

pub(super) mod approximate;
pub(super) mod arithmetic;
pub(super) mod bits;
pub(super) mod logic;
pub(super) mod random;
pub(super) mod rounding;
pub(super) mod special;
pub(super) mod transcendental;

pub use special::greatest_common_divisor;
pub use transcendental::integer_power;
