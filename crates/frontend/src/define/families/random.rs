//! Random numbers: uniform and normal ones as expressions over the words of [`ops::philox`].
//!
//! Element `i` of an f32 draw has word `i` of its sequence, of an f64 draw the words `2 i` and `2 i + 1`; half types are
//! drawn in f32. A draw that names no seed takes that of the call, at an offset of its own. Words become numbers as in
//! nvFuser (`runtime/random_numbers.cu` of github.com/NVIDIA/Fuser), except that a normal number never uses the logarithm of
//! 0: nvFuser's is infinite once in 2^25 draws, ours is 0 there.

use index::Expr;
use ir::definition::Object;
use ir::graph::{Shape, TensorOp, Val};
use ops::{DType, Scalar, ScalarOp};

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

/// A word as a number in (0, 1]: the middle of its interval of 2^-32, rounded.
const UNIT_OF_WORD: &str = "x * 2.3283064365386963e-10 + 1.1641532182693481e-10";
/// 53 bits as a number in (0, 1].
const UNIT_OF_TWO: &str = "x * 1.1102230246251565e-16 + 5.551115123125783e-17";
/// One normal number of the pair that two unit numbers give (Box and Muller, 1958).
const NORMAL: &str = "angle = v * 6.283185307179586; sqrt(-2 * log(u)) * where(odd, cos(angle), sin(angle))";
/// A number that rounding made the upper end becomes the lower end.
const BELOW_END: &str = "where(eq(x, end), start, x)";

/// The distribution of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distribution {
    /// From 0 to 1, or between two given numbers.
    Uniform,
    /// Of mean 0 and deviation 1, or given ones.
    Normal,
}

/// The sequence of a draw: two scalars of i64.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    pub seed: Val,
    pub offset: Val,
}

/// `uniform` and `normal`: a shape, two parameters, and optionally the sequence.
pub(super) fn draw(ops: &mut OpBuilder, kind: Distribution, bound: &Bound) -> Result<Val, DefineError> {
    let dtype = bound.dtype("dtype").unwrap_or(DType::F32);
    if !dtype.is_float() {
        return Err(bound.reject("dtype", "a dtype of floats"));
    }
    let shape = ops.full_sizes(bound, "shape")?;
    let compute = dtype.compute();
    let names = match kind {
        Distribution::Uniform => ["minval", "maxval"],
        Distribution::Normal => ["mean", "std"],
    };
    if kind == Distribution::Uniform {
        check_width(bound, compute)?;
    }
    let [first, second] = [ops.fill(bound, names[0], compute)?, ops.fill(bound, names[1], compute)?];
    let sequence = sequence(ops, bound)?;
    let is_uniform = kind == Distribution::Uniform;
    let scale = if is_uniform { ops.map(ScalarOp::Sub, &[second, first])? } else { second };
    let mut standard = standard(ops, kind, sequence, &shape, compute)?;
    if is_uniform && !dtype.is_storage_only() {
        standard = below_one(ops, standard, dtype)?;
    }
    let scaled = ops.map(ScalarOp::Mul, &[standard, scale])?;
    let moved = ops.map(ScalarOp::Add, &[first, scaled])?;
    if is_uniform && dtype.is_storage_only() {
        return below_end(ops, moved, [first, second], dtype);
    }
    ops.cast(moved, dtype)
}

/// Checks that numbers given for the ends of a uniform draw are less apart than the largest number of the dtype.
fn check_width(bound: &Bound, dtype: DType) -> Result<(), DefineError> {
    let (Object::Number(low), Object::Number(high)) = (bound.object("minval"), bound.object("maxval")) else {
        return Ok(());
    };
    let [low, high] = [low, high].map(|end| end.cast(dtype).as_f64());
    let is_finite = |x: f64| Scalar::from_f64(dtype, x).as_f64().is_finite();
    match [low, high].iter().all(|&end| is_finite(end)) && !is_finite(high - low) {
        true => {
            Err(bound
                .reject("maxval", &format!("a number that is less than the largest {dtype} from {low:e}")))
        }
        false => Ok(()),
    }
}

/// `rand_like` and `randn_like`: the shape and dtype of a tensor.
pub(super) fn draw_like(
    ops: &mut OpBuilder,
    kind: Distribution,
    bound: &Bound,
    arg: Val,
) -> Result<Val, DefineError> {
    let (dtype, shape) = (ops.graph.dtype(arg), ops.shape(arg));
    if !dtype.is_float() {
        let error = ops.reject("a tensor of floats", format!("one of {dtype}")).argument("arg");
        return Err(error.at(bound.span_of("arg")));
    }
    let sequence = next_sequence(ops)?;
    let standard = standard(ops, kind, sequence, &shape, dtype.compute())?;
    match kind {
        Distribution::Uniform => below_one(ops, standard, dtype),
        Distribution::Normal => ops.cast(standard, dtype),
    }
}

/// Uniform numbers in the shape of a tensor, in the compute dtype of its dtype.
pub(super) fn uniform_like(ops: &mut OpBuilder, arg: Val) -> Result<Val, DefineError> {
    let (dtype, shape) = (ops.graph.dtype(arg).compute(), ops.shape(arg));
    let sequence = next_sequence(ops)?;
    uniform_of(ops, sequence, &shape, dtype)
}

/// Uniform numbers of a sequence, in f32 or f64.
pub(super) fn uniform_of(
    ops: &mut OpBuilder,
    sequence: Sequence,
    shape: &Shape,
    dtype: DType,
) -> Result<Val, DefineError> {
    let unit = standard(ops, Distribution::Uniform, sequence, shape, dtype)?;
    below_one(ops, unit, dtype)
}

/// The sequence in the arguments, or the next one of the call.
fn sequence(ops: &mut OpBuilder, bound: &Bound) -> Result<Sequence, DefineError> {
    let given = ["rng_seed", "rng_offset"].map(|param| *bound.object(param) != Object::None);
    match given {
        [false, false] => next_sequence(ops),
        [true, true] => {
            let seed = sequence_number(ops, bound, "rng_seed")?;
            let offset = sequence_number(ops, bound, "rng_offset")?;
            Ok(Sequence { seed, offset })
        }
        [true, false] => Err(bound.reject("rng_offset", "an offset, as `rng_seed` is given")),
        [false, true] => Err(bound.reject("rng_seed", "a seed, as `rng_offset` is given")),
    }
}

fn sequence_number(ops: &mut OpBuilder, bound: &Bound, param: &str) -> Result<Val, DefineError> {
    let reject = || bound.reject(param, "a whole number or an integer scalar");
    match bound.object(param) {
        Object::Number(number) if number.dtype().is_int() => ops.constant(number.cast(DType::I64)),
        Object::Value(value)
            if ops.graph.dtype(value.val).is_int() && ops.graph.shape(value.val).is_empty() =>
        {
            ops.cast(value.val, DType::I64)
        }
        _ => Err(reject()),
    }
}

/// The seed of the call, and an offset that no other draw of the definition has.
pub(super) fn next_sequence(ops: &mut OpBuilder) -> Result<Sequence, DefineError> {
    let [seed, offset] = ops.draws.next(&mut ops.graph);
    let (seed, offset) = (ops.size_val(seed)?, ops.size_val(offset)?);
    Ok(Sequence { seed, offset })
}

/// Standard numbers of a shape, in f32 or f64; uniform ones are above 0 and at most 1.
fn standard(
    ops: &mut OpBuilder,
    kind: Distribution,
    sequence: Sequence,
    shape: &Shape,
    compute: DType,
) -> Result<Val, DefineError> {
    let number = element_numbers(ops, shape)?;
    if kind == Distribution::Uniform {
        return unit(ops, sequence, number, compute);
    }
    let one = ops.constant(Scalar::one(DType::I64))?;
    let not_one = ops.constant(Scalar::from_i64(DType::I64, !1))?;
    let even = ops.map(ScalarOp::BitwiseAnd, &[number, not_one])?;
    let odd = ops.map(ScalarOp::BitwiseOr, &[number, one])?;
    let (u, v) = (unit(ops, sequence, even, compute)?, unit(ops, sequence, odd, compute)?);
    let is_odd = ops.map(ScalarOp::Eq, &[number, odd])?;
    ops.expression(NORMAL, &["u", "v", "odd"], &[u, v, is_odd], compute)
}

/// The unit number at index `number` of a sequence.
fn unit(ops: &mut OpBuilder, sequence: Sequence, number: Val, dtype: DType) -> Result<Val, DefineError> {
    if dtype != DType::F64 {
        let word = word(ops, sequence, number)?;
        let x = ops.cast(word, dtype)?;
        return ops.expression(UNIT_OF_WORD, &["x"], &[x], dtype);
    }
    let first = ops.expression("2 * n", &["n"], &[number], DType::I64)?;
    let second = ops.expression("2 * n + 1", &["n"], &[number], DType::I64)?;
    let (low, high) = (word(ops, sequence, first)?, word(ops, sequence, second)?);
    let mixed = "bitwise_xor(low, bitwise_left_shift(high, 21))";
    let bits = ops.expression(mixed, &["low", "high"], &[low, high], DType::I64)?;
    let x = ops.cast(bits, dtype)?;
    ops.expression(UNIT_OF_TWO, &["x"], &[x], dtype)
}

fn word(ops: &mut OpBuilder, sequence: Sequence, number: Val) -> Result<Val, DefineError> {
    ops.map(ScalarOp::Philox, &[sequence.seed, sequence.offset, number])
}

/// Unit numbers in a dtype, with 1 replaced by 0.
fn below_one(ops: &mut OpBuilder, unit: Val, dtype: DType) -> Result<Val, DefineError> {
    let compute = dtype.compute();
    let ends = [ops.constant(Scalar::zero(compute))?, ops.constant(Scalar::one(compute))?];
    below_end(ops, unit, ends, dtype)
}

/// Numbers rounded to a dtype, with `end` replaced by `start`.
fn below_end(ops: &mut OpBuilder, x: Val, [start, end]: [Val; 2], dtype: DType) -> Result<Val, DefineError> {
    let compute = dtype.compute();
    let mut rounded = [x, start, end];
    for val in &mut rounded {
        let narrow = ops.cast(*val, dtype)?;
        *val = ops.cast(narrow, compute)?;
    }
    let below = ops.expression(BELOW_END, &["x", "start", "end"], &rounded, compute)?;
    ops.cast(below, dtype)
}

/// The index of each element in row-major order.
fn element_numbers(ops: &mut OpBuilder, shape: &Shape) -> Result<Val, DefineError> {
    let (start, step) = (ops.constant(Scalar::zero(DType::I64))?, ops.constant(Scalar::one(DType::I64))?);
    let count: Expr = shape.iter().cloned().product();
    let numbers = ops.add(TensorOp::Iota(count), &[start, step])?;
    ops.reshape_to(numbers, shape.clone())
}
