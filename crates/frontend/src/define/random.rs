//! Random numbers: uniform and normal ones as expressions over the words of [`ops::philox`].
//!
//! Element `i` of an f32 draw has word `i` of its sequence, of an f64 draw the words `2 i` and `2 i + 1`; half types are
//! drawn in f32. A draw that names no seed takes those that the call supplies, at an offset of its own. How words become
//! numbers is what nvFuser does (`runtime/random_numbers.cu` of github.com/NVIDIA/Fuser), but that a normal number is never
//! made of the logarithm of 0: nvFuser's is infinite once in 2^25 draws, ours is 0 there.

use index::{Expr, Sym};
use ir::definition::Object;
use ir::graph::{Shape, SymbolSource, TensorOp, Val};
use ops::{DType, Scalar, ScalarOp};

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;

/// A word as a number in (0, 1]: the middle of its interval of 2^-32, rounded.
const UNIT_OF_WORD: &str = "x * 2.3283064365386963e-10 + 1.1641532182693481e-10";
/// 53 bits as a number in (0, 1].
const UNIT_OF_TWO: &str = "x * 1.1102230246251565e-16 + 5.551115123125783e-17";
/// A pair of unit numbers as a pair of normal ones (Box and Muller, 1958), of which this is one.
const NORMAL: &str = "angle = v * 6.283185307179586; sqrt(-2 * log(u)) * where(odd, cos(angle), sin(angle))";
/// What rounding made the upper end is the lower end.
const BELOW_END: &str = "where(eq(x, end), start, x)";

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distribution {
    /// From 0 to 1, or between two numbers.
    Uniform,
    /// Of mean 0 and deviation 1, or others.
    Normal,
}

/// Which sequence a draw takes: two scalars of i64.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    pub seed: Val,
    pub offset: Val,
}

/// The symbols of a definition whose draws the call seeds, and how many draws there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stateful {
    seed: Sym,
    offset: Sym,
    pub draws: u32,
}

impl DefinitionBuilder {
    /// `uniform` and `normal`: a shape, two parameters, and perhaps the sequence.
    pub(super) fn draw(&mut self, kind: Distribution, bound: &Bound) -> Result<Val, DefineError> {
        let dtype = bound.dtype("dtype").unwrap_or(DType::F32);
        if !dtype.is_float() {
            return Err(bound.reject("dtype", "a dtype of floats"));
        }
        let shape = self.full_sizes(bound, "shape")?;
        let compute = dtype.compute();
        let names = match kind {
            Distribution::Uniform => ["minval", "maxval"],
            Distribution::Normal => ["mean", "std"],
        };
        let [first, second] = [self.fill(bound, names[0], compute)?, self.fill(bound, names[1], compute)?];
        let sequence = self.sequence(bound)?;
        let is_uniform = kind == Distribution::Uniform;
        let scale = if is_uniform { self.map(ScalarOp::Sub, &[second, first])? } else { second };
        let mut standard = self.standard(kind, sequence, &shape, compute)?;
        if is_uniform && !dtype.is_storage_only() {
            standard = self.below_one(standard, dtype)?;
        }
        let scaled = self.map(ScalarOp::Mul, &[standard, scale])?;
        let moved = self.map(ScalarOp::Add, &[first, scaled])?;
        if is_uniform && dtype.is_storage_only() {
            return self.below_end(moved, [first, second], dtype);
        }
        self.cast(moved, dtype)
    }

    /// `rand_like` and `randn_like`: the shape and dtype of a tensor.
    pub(super) fn draw_like(
        &mut self,
        kind: Distribution,
        bound: &Bound,
        arg: Val,
    ) -> Result<Val, DefineError> {
        let (dtype, shape) = (self.graph.dtype(arg), self.shape(arg));
        if !dtype.is_float() {
            let error = self.reject("a tensor of floats", format!("one of {dtype}")).argument("arg");
            return Err(error.at(bound.span_of("arg")));
        }
        let sequence = self.next_sequence()?;
        let standard = self.standard(kind, sequence, &shape, dtype.compute())?;
        match kind {
            Distribution::Uniform => self.below_one(standard, dtype),
            Distribution::Normal => self.cast(standard, dtype),
        }
    }

    /// Uniform numbers in the shape of a tensor, in the dtype that its dtype computes in.
    pub(super) fn uniform_like(&mut self, arg: Val) -> Result<Val, DefineError> {
        let (dtype, shape) = (self.graph.dtype(arg).compute(), self.shape(arg));
        let sequence = self.next_sequence()?;
        self.uniform_of(sequence, &shape, dtype)
    }

    /// Uniform numbers of a sequence, in f32 or f64.
    pub(super) fn uniform_of(
        &mut self,
        sequence: Sequence,
        shape: &Shape,
        dtype: DType,
    ) -> Result<Val, DefineError> {
        let unit = self.standard(Distribution::Uniform, sequence, shape, dtype)?;
        self.below_one(unit, dtype)
    }

    /// The sequence that the arguments name, or the next of the call's.
    fn sequence(&mut self, bound: &Bound) -> Result<Sequence, DefineError> {
        let given = ["rng_seed", "rng_offset"].map(|param| *bound.object(param) != Object::None);
        match given {
            [false, false] => self.next_sequence(),
            [true, true] => {
                let seed = self.sequence_number(bound, "rng_seed")?;
                let offset = self.sequence_number(bound, "rng_offset")?;
                Ok(Sequence { seed, offset })
            }
            [true, false] => Err(bound.reject("rng_offset", "an offset, as `rng_seed` is given")),
            [false, true] => Err(bound.reject("rng_seed", "a seed, as `rng_offset` is given")),
        }
    }

    fn sequence_number(&mut self, bound: &Bound, param: &str) -> Result<Val, DefineError> {
        let reject = || bound.reject(param, "a whole number or an integer scalar");
        match bound.object(param) {
            Object::Number(number) if number.dtype().is_int() => self.constant(number.cast(DType::I64)),
            Object::Value(value)
                if self.graph.dtype(value.val).is_int() && self.graph.shape(value.val).is_empty() =>
            {
                self.cast(value.val, DType::I64)
            }
            _ => Err(reject()),
        }
    }

    /// The seed of the call, and an offset that no other draw of the definition has.
    pub(super) fn next_sequence(&mut self) -> Result<Sequence, DefineError> {
        let graph = &mut self.graph;
        let stateful = self.stateful.get_or_insert_with(|| Stateful {
            seed: graph.add_symbol(SymbolSource::Seed),
            offset: graph.add_symbol(SymbolSource::Offset),
            draws: 0,
        });
        let Stateful { seed, offset, draws } = *stateful;
        stateful.draws += 1;
        let seed = self.size_val(Expr::sym(seed))?;
        let offset = self.size_val(Expr::sym(offset) + i64::from(draws))?;
        Ok(Sequence { seed, offset })
    }

    /// Standard numbers of a shape, in f32 or f64; uniform ones are above 0 and at most 1.
    fn standard(
        &mut self,
        kind: Distribution,
        sequence: Sequence,
        shape: &Shape,
        compute: DType,
    ) -> Result<Val, DefineError> {
        let number = self.element_numbers(shape)?;
        if kind == Distribution::Uniform {
            return self.unit(sequence, number, compute);
        }
        let one = self.constant(Scalar::one(DType::I64))?;
        let not_one = self.constant(Scalar::from_i64(DType::I64, !1))?;
        let even = self.map(ScalarOp::BitwiseAnd, &[number, not_one])?;
        let odd = self.map(ScalarOp::BitwiseOr, &[number, one])?;
        let (u, v) = (self.unit(sequence, even, compute)?, self.unit(sequence, odd, compute)?);
        let is_odd = self.map(ScalarOp::Eq, &[number, odd])?;
        self.expression(NORMAL, &["u", "v", "odd"], &[u, v, is_odd], compute)
    }

    /// Unit number `number` of a sequence.
    fn unit(&mut self, sequence: Sequence, number: Val, dtype: DType) -> Result<Val, DefineError> {
        if dtype != DType::F64 {
            let word = self.word(sequence, number)?;
            let x = self.cast(word, dtype)?;
            return self.expression(UNIT_OF_WORD, &["x"], &[x], dtype);
        }
        let first = self.expression("2 * n", &["n"], &[number], DType::I64)?;
        let second = self.expression("2 * n + 1", &["n"], &[number], DType::I64)?;
        let (low, high) = (self.word(sequence, first)?, self.word(sequence, second)?);
        let mixed = "bitwise_xor(low, bitwise_left_shift(high, 21))";
        let bits = self.expression(mixed, &["low", "high"], &[low, high], DType::I64)?;
        let x = self.cast(bits, dtype)?;
        self.expression(UNIT_OF_TWO, &["x"], &[x], dtype)
    }

    fn word(&mut self, sequence: Sequence, number: Val) -> Result<Val, DefineError> {
        self.map(ScalarOp::Philox, &[sequence.seed, sequence.offset, number])
    }

    /// Unit numbers in a dtype, 0 for 1.
    fn below_one(&mut self, unit: Val, dtype: DType) -> Result<Val, DefineError> {
        let compute = dtype.compute();
        let ends = [self.constant(Scalar::zero(compute))?, self.constant(Scalar::one(compute))?];
        self.below_end(unit, ends, dtype)
    }

    /// Numbers rounded to a dtype, the first of two ends for the second.
    fn below_end(&mut self, x: Val, [start, end]: [Val; 2], dtype: DType) -> Result<Val, DefineError> {
        let compute = dtype.compute();
        let mut rounded = [x, start, end];
        for val in &mut rounded {
            let narrow = self.cast(*val, dtype)?;
            *val = self.cast(narrow, compute)?;
        }
        let below = self.expression(BELOW_END, &["x", "start", "end"], &rounded, compute)?;
        self.cast(below, dtype)
    }

    /// The number of each element in row-major order.
    fn element_numbers(&mut self, shape: &Shape) -> Result<Val, DefineError> {
        let (start, step) =
            (self.constant(Scalar::zero(DType::I64))?, self.constant(Scalar::one(DType::I64))?);
        let count: Expr = shape.iter().cloned().product();
        let numbers = self.add(TensorOp::Iota(count), &[start, step])?;
        self.reshape_to(numbers, shape.clone())
    }
}
