//! Scalar ops with their rows' spelling for CPUs, on scalars and vectors alike.
//!
//! Expansions and monoids are expressions over primitives, evaluated over instructions. Integer instructions that could
//! trap or be undefined get the guard their row names.

use ops::{
    Approximation, Arith, BodyArith, CpuSpelling, DType, Guard, Monoid, Polynomial, Scalar, ScalarOp,
    expr_parser,
};

use super::operand::{Element, Operand, Type};
use super::outline::outlined;
use super::writer::Writer;
use super::{EmitError, avx512, convert, math, philox, statement};

/// The op applied to operands of its compute dtypes. The last has `dtype`: for a selection that of the selected values.
///
/// # Errors
/// [`EmitError::NoSpelling`] if the row has no code for the dtype.
pub(super) fn apply(
    w: &mut Writer<'_>,
    op: ScalarOp,
    args: &[Operand],
    dtype: DType,
) -> Result<Operand, EmitError> {
    let spelling = op.row().cpu.of(dtype).ok_or(EmitError::NoSpelling { op, dtype })?;
    Ok(match spelling {
        CpuSpelling::Instruction(opcode) => instruction(w, opcode, args),
        CpuSpelling::Guarded(opcode, guard) => guarded(w, opcode, guard, args[0], args[1]),
        CpuSpelling::Intrinsic(name) => intrinsic(w, name, args),
        CpuSpelling::Compare(predicate) => {
            let opcode = if dtype.is_float() { "fcmp" } else { "icmp" };
            w.compare(&format!("{opcode} {predicate}"), args[0], args[1])
        }
        CpuSpelling::Select => w.select(args[0], args[1], args[2]),
        CpuSpelling::Move => args[0],
        CpuSpelling::Expansion(text) => return expand(w, op, text, args, dtype),
        CpuSpelling::Polynomial(Polynomial::Pow) if math::is_product(args[0], args[1]) => {
            math::polynomial(w, Polynomial::Pow, args)
        }
        CpuSpelling::Polynomial(function) => {
            outlined(w, op, args, |w, args| math::polynomial(w, function, args))
        }
        CpuSpelling::Approximate(function) => return approximate(w, function, args, dtype),
        CpuSpelling::Philox => outlined(w, op, args, |w, args| philox::word(w, args[0], args[1], args[2])),
        CpuSpelling::Remainder { narrow, wide } => outlined(w, op, args, |w, args| {
            let function = if dtype == DType::F64 { wide } else { narrow };
            math::remainder(w, function, args[0], args[1])
        }),
        CpuSpelling::NextAfter => math::next_after(w, args[0], args[1]),
        CpuSpelling::Call { narrow, wide } => {
            w.call_lanes(if dtype.size() == 8 { wide } else { narrow }, args)
        }
    })
}

/// Two partial results of a fold combined, state by state; the states have these dtypes.
///
/// # Errors
/// As for [`apply`].
pub(super) fn combine(
    w: &mut Writer<'_>,
    monoid: &Monoid,
    dtypes: &[DType],
    low: &[Operand],
    high: &[Operand],
) -> Result<Vec<Operand>, EmitError> {
    let typed = |states: &[Operand]| -> Vec<Typed> {
        states.iter().zip(dtypes).map(|(&operand, &dtype)| Typed { operand, dtype }).collect()
    };
    let (low, high) = (typed(low), typed(high));
    let mut instructions = Instructions { w, dtype: dtypes[0], failure: None };
    let states = monoid.combine(&mut instructions, &low, &high);
    instructions.done(states)
}

/// An approximation where the dtype has one, otherwise the op that it stands for.
fn approximate(
    w: &mut Writer<'_>,
    function: Approximation,
    args: &[Operand],
    dtype: DType,
) -> Result<Operand, EmitError> {
    match (function, args) {
        (
            Approximation::Exp(_)
            | Approximation::Exp2Half(_)
            | Approximation::Exp2Bf16(_)
            | Approximation::ExpTerm,
            &[x],
        ) => Ok(math::exponential(w, x, function).lowered(w)),
        (Approximation::Reciprocal, &[x]) if avx512::applies(w, x.ty) && dtype != DType::F64 => {
            Ok(avx512::reciprocal_half(w, x))
        }
        (Approximation::Reciprocal, _) => apply(w, ScalarOp::Reciprocal, args, dtype),
        (Approximation::MulAdd, _) if w.isa.fma => Ok(w.overloaded("llvm.fma", args[0], &args[1..])),
        (Approximation::MulAdd, &[a, b, c]) => {
            let product = w.binary("fmul", a, b);
            Ok(w.binary("fadd", product, c))
        }
        _ => unreachable!("the kernel was verified: ops have as many operands as they take"),
    }
}

fn instruction(w: &mut Writer<'_>, opcode: &str, args: &[Operand]) -> Operand {
    match *args {
        [a] => w.unary(opcode, a),
        _ => w.binary(opcode, args[0], args[1]),
    }
}

fn intrinsic(w: &mut Writer<'_>, name: &str, args: &[Operand]) -> Operand {
    if name == "llvm.abs" {
        let wraps = Operand::integer(0, Type::scalar(Element::I1));
        return w.intrinsic(name, &[args[0].ty], args[0].ty, &[args[0], wraps]);
    }
    let ty = args.iter().fold(args[0].ty, |ty, arg| if ty.lanes.is_some() { ty } else { arg.ty });
    if matches!(name, "llvm.maximum" | "llvm.minimum") && avx512::applies(w, ty) {
        let (a, b) = (w.shaped(args[0], ty.lanes), w.shaped(args[1], ty.lanes));
        return avx512::extremum(w, a, b, name == "llvm.maximum");
    }
    w.overloaded(name, args[0], &args[1..])
}

fn guarded(w: &mut Writer<'_>, opcode: &str, guard: Guard, a: Operand, b: Operand) -> Operand {
    match guard {
        Guard::Quotient | Guard::Remainder => divide(w, opcode, guard, a, b),
        Guard::UnsignedQuotient | Guard::UnsignedRemainder => divide_unsigned(w, opcode, guard, a, b),
        Guard::ShiftToZero | Guard::ShiftToSign => shift(w, opcode, guard, a, b),
    }
}

/// Divides by 1 where the divisor is 0 or -1, then inserts the row's results for these.
fn divide(w: &mut Writer<'_>, opcode: &str, guard: Guard, a: Operand, b: Operand) -> Operand {
    let zero = w.compare("icmp eq", b, 0);
    let minus_one = w.compare("icmp eq", b, -1);
    let special = w.binary("or", zero, minus_one);
    let safe = w.select(special, 1, b);
    let result = w.binary(opcode, a, safe);
    if guard == Guard::Remainder {
        // Modulo 1 is 0, which is right for -1.
        return w.select(zero, a, result);
    }
    let negated = w.binary("sub", Operand::integer(0, a.ty), a);
    let result = w.select(minus_one, negated, result);
    w.select(zero, 0, result)
}

fn divide_unsigned(w: &mut Writer<'_>, opcode: &str, guard: Guard, a: Operand, b: Operand) -> Operand {
    let zero = w.compare("icmp eq", b, 0);
    let safe = w.select(zero, 1, b);
    let result = w.binary(opcode, a, safe);
    match guard {
        Guard::UnsignedRemainder => w.select(zero, a, result),
        _ => w.select(zero, 0, result),
    }
}

fn shift(w: &mut Writer<'_>, opcode: &str, guard: Guard, a: Operand, amount: Operand) -> Operand {
    let width = i64::from(a.ty.element.bits());
    let within = w.compare("icmp ult", amount, width);
    let bounded = w.select(within, amount, width - 1);
    let shifted = w.binary(opcode, a, bounded);
    if guard == Guard::ShiftToSign { shifted } else { w.select(within, shifted, 0) }
}

fn expand(
    w: &mut Writer<'_>,
    op: ScalarOp,
    text: &str,
    args: &[Operand],
    dtype: DType,
) -> Result<Operand, EmitError> {
    let expression =
        expr_parser::parse(text, op.row().params).expect("the expansions of the op table are expressions");
    let mut instructions = Instructions { w, dtype, failure: None };
    let typed: Vec<Typed> = args.iter().map(|&operand| instructions.typed(operand)).collect();
    let result = expression.eval(&mut instructions, &typed);
    Ok(instructions.done(vec![result])?.swap_remove(0))
}

/// An operand and its dtype, which its machine type does not always determine.
#[derive(Clone, Copy)]
struct Typed {
    operand: Operand,
    dtype: DType,
}

/// Evaluates expressions by writing instructions; remembers the first op that has none.
struct Instructions<'a, 'i> {
    w: &'a mut Writer<'i>,
    /// The dtype of numbers in the expression.
    dtype: DType,
    failure: Option<EmitError>,
}

impl Instructions<'_, '_> {
    fn done(self, results: Vec<Typed>) -> Result<Vec<Operand>, EmitError> {
        self.failure.map_or(Ok(results.into_iter().map(|typed| typed.operand).collect()), Err)
    }

    /// An operand of an expression that computes in one dtype: of that dtype, or a bool.
    fn typed(&self, operand: Operand) -> Typed {
        let dtype = if operand.ty.element == Element::I1 { DType::Bool } else { self.dtype };
        Typed { operand, dtype }
    }
}

impl Arith for Instructions<'_, '_> {
    type V = Typed;

    fn apply(&mut self, op: ScalarOp, args: &[Typed]) -> Typed {
        let operands: Vec<Operand> = args.iter().map(|arg| arg.operand).collect();
        let dtypes: Vec<DType> = args.iter().map(|arg| arg.dtype).collect();
        let decides = dtypes.last().copied().unwrap_or(self.dtype);
        let operand = apply(self.w, op, &operands, decides).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            operands[0]
        });
        Typed { operand, dtype: op.result_dtype(&dtypes) }
    }

    fn constant(&mut self, value: f64) -> Typed {
        let ty = Type::scalar(Element::of(self.dtype));
        let operand = if self.dtype.is_float() {
            Operand::float(value, ty)
        } else {
            Operand::integer(value as i64, ty)
        };
        Typed { operand, dtype: self.dtype }
    }
}

impl BodyArith for Instructions<'_, '_> {
    fn scalar(&mut self, constant: Scalar) -> Typed {
        Typed { operand: statement::constant(constant), dtype: constant.dtype() }
    }

    fn cast(&mut self, value: &Typed, from: DType, to: DType) -> Typed {
        Typed { operand: convert::cast(self.w, value.operand, from, to), dtype: to }
    }
}
