//! Inputs: what they are declared as, which numbers they hold, and how they lie in memory.

use std::sync::Arc;

use ferrofuse::{ArrayView, DType, Scalar, Side};
use ir::array::ArrayViewMut;

use super::draws::Draws;
use crate::emulator::GuardedBuffer;

/// An input of a random program.
#[derive(Clone, Debug)]
pub struct Input {
    /// Element type.
    pub dtype: DType,
    /// Sizes of the axes.
    pub sizes: Vec<usize>,
    /// Whether it is a scalar of the language, which has no sizes.
    pub is_scalar: bool,
    /// Which sizes the definition does not know.
    pub symbolic: Vec<bool>,
    /// Which axes the definition says to be expanded.
    pub expanded: Vec<bool>,
    /// The axes from the outermost in memory to the innermost, as the definition says; empty: row-major.
    pub declared_order: Vec<usize>,
    /// How it lies in memory.
    pub placement: Placement,
    /// What it holds.
    pub numbers: Numbers,
    /// Draws the numbers.
    pub seed: u64,
}

/// How an input lies in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The axes from the outermost in memory to the innermost; empty stands for their own order.
    pub order: Vec<usize>,
    /// For each axis how many places one index is: 0 repeats, a negative number walks backward. Empty: 1 each.
    pub steps: Vec<isize>,
    /// Bytes before the first element.
    pub offset: usize,
}

/// What kind of numbers an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Normally distributed floats, small integers.
    Normal,
    /// Small whole numbers.
    Whole,
    /// Also NaN, infinities, zeros of both signs, subnormals, and the largest there are.
    Strange,
}

/// An input in memory, between pages that nobody may touch.
#[derive(Clone, Debug)]
pub struct Placed {
    memory: Arc<GuardedBuffer>,
    start: usize,
    dtype: DType,
    sizes: Vec<usize>,
    strides: Vec<isize>,
}

impl Placed {
    /// The input as its user sees it.
    pub fn view(&self) -> ArrayView<'_> {
        ArrayView::new(self.memory.bytes(), self.start, self.dtype, &self.sizes, &self.strides)
            .expect("the memory was made for these strides")
    }

    /// A copy that may be written to.
    pub fn writable(&self) -> Writable {
        Writable { bytes: self.memory.bytes().to_vec(), like: self.clone() }
    }
}

/// An input in memory of its own that may be written to.
#[derive(Clone, Debug)]
pub struct Writable {
    bytes: Vec<u8>,
    like: Placed,
}

impl Writable {
    /// What it holds.
    pub fn view(&self) -> ArrayView<'_> {
        let Placed { start, dtype, sizes, strides, .. } = &self.like;
        ArrayView::new(&self.bytes, *start, *dtype, sizes, strides).expect("as long as the memory it copies")
    }

    /// The input for writing.
    pub fn view_mut(&mut self) -> ArrayViewMut<'_> {
        let Placed { start, dtype, sizes, strides, .. } = &self.like;
        let view = ArrayViewMut::new(&mut self.bytes, *start, *dtype, sizes, strides);
        view.expect("as long as the memory it copies")
    }
}

impl Input {
    /// Puts the input into memory; what lies between its elements is random too.
    pub fn place(&self) -> Placed {
        let rank = self.sizes.len();
        let order: Vec<usize> =
            if self.placement.order.is_empty() { (0..rank).collect() } else { self.placement.order.clone() };
        let mut strides = vec![0; rank];
        let (mut extent, mut first) = (1_usize, 0_usize);
        for &axis in order.iter().rev() {
            let step = self.placement.steps.get(axis).copied().unwrap_or(1);
            strides[axis] = step * extent as isize;
            if step < 0 {
                first += self.sizes[axis].saturating_sub(1) * strides[axis].unsigned_abs();
            }
            extent *= (self.sizes[axis] * step.unsigned_abs()).max(1);
        }
        let mut draws = Draws::new(self.seed);
        let parts = if self.dtype.is_complex() { 2 } else { 1 };
        let mut bytes = vec![0; self.placement.offset];
        for _ in 0..extent {
            for _ in 0..parts {
                let part = self.numbers.draw(self.dtype.real(), &mut draws).bits().to_le_bytes();
                bytes.extend(&part[..self.dtype.real().size()]);
            }
        }
        let start = self.placement.offset + first * self.dtype.size();
        let side = if self.seed.is_multiple_of(2) { Side::Before } else { Side::After };
        let memory = GuardedBuffer::beside(&bytes, side, 1);
        let memory = Arc::new(memory.expect("the machine has memory for an input"));
        Placed { memory, start, dtype: self.dtype, sizes: self.sizes.clone(), strides }
    }
}

impl Numbers {
    /// One number of a real dtype.
    pub fn draw(self, dtype: DType, draws: &mut Draws) -> Scalar {
        if self == Numbers::Strange && draws.percent(15) {
            return strange(dtype, draws);
        }
        match dtype {
            DType::Bool => Scalar::from_bool(draws.percent(50)),
            DType::U64 => Scalar::from_i64(dtype, draws.between(0, 40) as i64),
            DType::I32 | DType::I64 => Scalar::from_i64(dtype, draws.between(0, 40) as i64 - 20),
            _ if self == Numbers::Whole => Scalar::from_f64(dtype, draws.between(0, 8) as f64 - 4.0),
            _ => Scalar::from_f64(dtype, draws.normal()),
        }
    }
}

fn strange(dtype: DType, draws: &mut Draws) -> Scalar {
    match dtype {
        DType::Bool => Scalar::from_bool(true),
        DType::I32 | DType::I64 | DType::U64 => {
            draws.one_of(&[Scalar::lowest(dtype), Scalar::highest(dtype), Scalar::zero(dtype)])
        }
        _ => {
            let largest = match dtype {
                DType::F8E4M3 => 448.0,
                DType::F8E5M2 => 57344.0,
                DType::F16 => 65504.0,
                _ => 3.0e38,
            };
            let least = dtype.ulp(0.0);
            let numbers =
                [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, least, -3.0 * least, largest];
            Scalar::from_f64(dtype, draws.one_of(&numbers))
        }
    }
}
