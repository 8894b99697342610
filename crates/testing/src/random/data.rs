//! Inputs: their declarations, their numbers, and their layouts. `memory` makes them.

use ferrofuse::{DType, Scalar};

use super::Draws;
use super::program::Tensor;

/// An input of a random program.
#[derive(Clone, Debug)]
pub struct Input {
    pub dtype: DType,
    pub sizes: Vec<usize>,
    /// Whether it is a scalar of the language, which has no sizes.
    pub is_scalar: bool,
    /// Which sizes the definition does not know.
    pub symbolic: Vec<bool>,
    /// Which axes the definition declares expanded.
    pub expanded: Vec<bool>,
    /// The axes from the outermost in memory to the innermost, as declared; empty: row-major.
    pub declared_order: Vec<usize>,
    pub placement: Placement,
    /// The kind of its numbers.
    pub numbers: Numbers,
    /// The seed of the numbers.
    pub seed: u64,
    /// Another input, declared before this one, in whose memory this one begins, and the element of that memory at which it
    /// begins: the two share elements, and its numbers are those of the other. If it does not fit there it has its own
    /// memory.
    pub within: Option<(Tensor, usize)>,
}

/// The layout of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The axes from the outermost in memory to the innermost; empty: row-major.
    pub order: Vec<usize>,
    /// For each axis the steps of one index in units of its dense stride: 0 repeats, a negative number walks backward.
    /// Empty: 1 each.
    pub steps: Vec<isize>,
    /// Bytes before the first element.
    pub offset: usize,
}

/// The kind of numbers in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Normally distributed floats, small integers.
    Normal,
    /// Small whole numbers.
    Whole,
    /// Also NaN, infinities, zeros of both signs, subnormals, and the largest finite numbers.
    Strange,
}

impl Numbers {
    /// One number of a real dtype.
    pub fn draw(self, dtype: DType, draws: &mut Draws) -> Scalar {
        if self == Numbers::Strange && draws.percent(15) {
            return strange(dtype, draws);
        }
        match dtype {
            DType::Bool => Scalar::from_bool(draws.percent(50)),
            _ if dtype.is_unsigned_int() => Scalar::from_i64(dtype, draws.between(0, 40) as i64),
            _ if dtype.is_int() => Scalar::from_i64(dtype, draws.between(0, 40) as i64 - 20),
            _ if self == Numbers::Whole => Scalar::from_f64(dtype, draws.between(0, 8) as f64 - 4.0),
            _ => Scalar::from_f64(dtype, draws.normal()),
        }
    }
}

fn strange(dtype: DType, draws: &mut Draws) -> Scalar {
    match dtype {
        DType::Bool => Scalar::from_bool(true),
        _ if dtype.is_int() => {
            draws.one_of(&[Scalar::lowest(dtype), Scalar::highest(dtype), Scalar::zero(dtype)])
        }
        _ => {
            let largest = match dtype {
                DType::F8E4M3 => 448.0,
                DType::F8E5M2 => 57344.0,
                DType::F16 => 65504.0,
                _ => 3.0e38,
            };
            let min = dtype.ulp(0.0);
            let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, min, -3.0 * min, largest];
            Scalar::from_f64(dtype, draws.one_of(&numbers))
        }
    }
}
