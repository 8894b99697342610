//! Scalar ops as their rows spell them for CPUs, on scalars and vectors alike.
//!
//! Expansions and monoids are expressions over primitives, evaluated over instructions. Integer instructions that could
//! trap or be undefined get the guard their row names.

use ir::DType;
use ir::ops::{Arith, CpuSpelling, Guard, Monoid, Prim, expr_parser};

use super::operand::{Element, Operand, Type};
use super::writer::Writer;
use super::{EmitError, math, philox, wide};

/// The op applied to operands of its compute dtypes, of which the last has `dtype`: that of what a selection selects.
///
/// # Errors
/// [`EmitError::NoSpelling`] if the row has no code for the dtype.
pub(super) fn apply(
    w: &mut Writer<'_>,
    op: Prim,
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
        CpuSpelling::Polynomial(function) if dtype == DType::F64 => {
            w.call_lanes(math::double(function), args)
        }
        CpuSpelling::Polynomial(function) => math::polynomial(w, function, args[0]),
        CpuSpelling::Philox => philox::word(w, args[0], args[1], args[2]),
        CpuSpelling::Call { narrow, wide } => {
            w.call_lanes(if dtype.size() == 8 { wide } else { narrow }, args)
        }
    })
}

/// Two partial results of a fold combined, state by state; all states have the one dtype.
///
/// # Errors
/// As for [`apply`].
pub(super) fn combine(
    w: &mut Writer<'_>,
    monoid: Monoid,
    dtype: DType,
    low: &[Operand],
    high: &[Operand],
) -> Result<Vec<Operand>, EmitError> {
    let mut instructions = Instructions { w, dtype, failure: None };
    let states = monoid.exprs().combine.eval_all(&mut instructions, &[low, high].concat());
    instructions.done(states)
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
    if matches!(name, "llvm.maximum" | "llvm.minimum") && wide::applies(w, ty) {
        let (a, b) = (w.shaped(args[0], ty.lanes), w.shaped(args[1], ty.lanes));
        return wide::extremum(w, a, b, name == "llvm.maximum");
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

/// Divides by 1 where the divisor is 0 or -1, then puts in what the row says for these.
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
    op: Prim,
    text: &str,
    args: &[Operand],
    dtype: DType,
) -> Result<Operand, EmitError> {
    let expression =
        expr_parser::parse(text, op.row().params).expect("the expansions of the op table are expressions");
    let mut instructions = Instructions { w, dtype, failure: None };
    let result = expression.eval(&mut instructions, args);
    Ok(instructions.done(vec![result])?.swap_remove(0))
}

/// Evaluates expressions by writing instructions; remembers the first op that has none.
struct Instructions<'a, 'i> {
    w: &'a mut Writer<'i>,
    /// The dtype of all that is not a bool.
    dtype: DType,
    failure: Option<EmitError>,
}

impl Instructions<'_, '_> {
    fn done(self, results: Vec<Operand>) -> Result<Vec<Operand>, EmitError> {
        self.failure.map_or(Ok(results), Err)
    }
}

impl Arith for Instructions<'_, '_> {
    type V = Operand;

    fn apply(&mut self, op: Prim, args: &[Operand]) -> Operand {
        let decides = args.last().map(|arg| arg.ty.element);
        let dtype = if decides == Some(Element::I1) { DType::Bool } else { self.dtype };
        apply(self.w, op, args, dtype).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            args[0]
        })
    }

    fn constant(&mut self, value: f64) -> Operand {
        let ty = Type::scalar(Element::of(self.dtype));
        if self.dtype.is_float() { Operand::float(value, ty) } else { Operand::integer(value as i64, ty) }
    }
}
