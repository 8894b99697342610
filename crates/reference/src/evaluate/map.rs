//! Scalar ops element by element, and casts: blocks of operands in, blocks of results and their bounds out.
//!
//! The meaning is the op's row, in doubles rounded to the dtype or in integers. Axes along which no operand varies are
//! computed once and repeated by a stride of zero.

use ir::array::{Dims, Layout};
use ops::lanes::{NullaryFnOnce, wide};
use ops::{BoolMeaning, DType, FloatMeaning, IntMeaning, IntType, ScalarOp, Spread};

use super::EvaluateError;
use super::block::{Elementwise, GRAIN, Kind, Scratch, Span, as_reals, fill};
use super::bound::Rounding;
use super::convert::convert;
use super::memory::Metered;
use super::operands::{Operands, Source, Target};
use super::spread::spread;
use super::value::{BoundedValue, Strided};
use super::workers::Resources;

/// One scalar op on operands of rank 0 or of the result's rank, each axis of the result's size or 1.
pub(super) fn map(
    op: ScalarOp,
    operands: Vec<BoundedValue<'_>>,
    sizes: &[usize],
    dtype: DType,
    bounds: bool,
    resources: &Resources<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let operands: Vec<BoundedValue<'_>> =
        operands.into_iter().map(|value| straightened(value, sizes, resources)).collect();
    let core = varying(&operands, sizes);
    let (rounding, meaning) = (Rounding::new(dtype, op.row().ulp), Meaning::of(op, &operands));
    let inexact = operands.iter().any(|operand| operand.bound.is_some());
    let wanted = bounds && (inexact || !rounding.is_exact());
    let (data, errors) = operands.into_iter().map(|value| (Some(value.data), value.bound)).unzip();
    let (data, values) = Operands::new(data, &core, dtype);
    let (errors, bounds) = Operands::new(errors, &core, DType::F32);
    let target = Target::new(&core, dtype, wanted, [values, bounds], resources)?;
    let args = data.sources(&core).into_iter().flatten().collect();
    let body = Map { op, meaning, args, errors: errors.sources(&core), rounding, dtype };
    Ok(run(&body, target, resources).relaid(|layout| layout.expanded(sizes)))
}

/// A cast. A dtype that has every value of the old one changes nothing, and bounds stay as they are.
pub(super) fn cast<'a>(
    value: BoundedValue<'a>,
    dtype: DType,
    resources: &Resources<'_>,
) -> Result<BoundedValue<'a>, EvaluateError> {
    let sizes: Dims = value.sizes().into();
    let core = varying(std::slice::from_ref(&value), &sizes);
    let (from, rounding) = (value.data.view().dtype(), Rounding::new(dtype, 0.5));
    let is_wider = from.is_float() && rounding.holds(&Rounding::new(from, 0.5));
    let (kept, errors) = if is_wider { (value.bound, None) } else { (None, value.bound) };
    let wanted = errors.is_some();
    let (data, values) = Operands::new(vec![Some(value.data)], &core, dtype);
    let (errors, bounds) = Operands::new(vec![errors], &core, DType::F32);
    let target = Target::new(&core, dtype, wanted, [values, bounds], resources)?;
    let [args, errors] =
        [data.sources(&core), errors.sources(&core)].map(|mut sources| sources.pop().flatten());
    let body = Cast { arg: args.expect("an operand"), errors, dtype, rounding };
    let result = run(&body, target, resources).relaid(|layout| layout.expanded(&sizes));
    Ok(BoundedValue { data: result.data, bound: kept.or(result.bound) })
}

/// Fills memory with the results of an operation on blocks.
pub(super) fn run(
    body: &impl Elementwise,
    target: Target,
    resources: &Resources<'_>,
) -> BoundedValue<'static> {
    let Target { mut values, mut bounds } = target;
    let some = fill(values.array_mut(), bounds.as_mut().map(Metered::array_mut), body, resources);
    BoundedValue { data: Strided::made(values), bound: bounds.filter(|_| some).map(Strided::made) }
}

/// The result's sizes, with 1 where no operand varies along the axis.
fn varying(operands: &[BoundedValue<'_>], sizes: &[usize]) -> Dims {
    let layouts = || operands.iter().flat_map(|value| [Some(&value.data), value.bound.as_ref()]).flatten();
    let varies = |axis: usize| {
        layouts().map(Strided::layout).any(|l| l.rank() > 0 && l.sizes[axis] > 1 && l.strides[axis] != 0)
    };
    sizes.iter().enumerate().map(|(axis, &size)| if size > 1 && !varies(axis) { 1 } else { size }).collect()
}

/// The operand, copied to row-major order if it would be read across its contiguous axis: each cache line would be read as
/// often as it has elements. If there is no memory for that, it stays as it is.
pub(super) fn straightened<'a>(
    value: BoundedValue<'a>,
    sizes: &[usize],
    resources: &Resources<'_>,
) -> BoundedValue<'a> {
    let straight = |strided: Strided<'a>| match is_crossed(strided.layout(), sizes) {
        true => strided.copied(resources).unwrap_or(strided),
        false => strided,
    };
    BoundedValue { data: straight(value.data), bound: value.bound.map(straight) }
}

/// Whether another axis than the last one has neighbours in memory, and there are many elements.
fn is_crossed(layout: &Layout, sizes: &[usize]) -> bool {
    let rows = layout.merged();
    let (Some((&across, outer)), [.., _]) = (rows.strides.split_last(), sizes) else { return false };
    let is_own = layout.sizes[..] == *sizes && layout.numel().is_some_and(|numel| numel >= GRAIN);
    is_own && across.unsigned_abs() > 1 && outer.contains(&1)
}

/// A row's meaning on the class of the operands.
enum Meaning {
    Float(FloatMeaning),
    Int(IntMeaning, IntType),
    Bool(BoolMeaning),
}

impl Meaning {
    /// Shape rules and typing admit only operands that the row has a meaning on. A selection's class is that of the selected
    /// values.
    fn of(op: ScalarOp, operands: &[BoundedValue<'_>]) -> Meaning {
        let dtype = operands.last().map_or(DType::F32, |value| value.data.view().dtype());
        let row = op.row();
        let meaning = match IntType::of(dtype) {
            Some(ty) => row.int.map(|meaning| Meaning::Int(meaning, ty)),
            None if dtype == DType::Bool => row.boolean.map(Meaning::Bool),
            None => row.float.map(Meaning::Float),
        };
        meaning.unwrap_or_else(|| unreachable!("`{}` has no meaning on {dtype}", row.name))
    }

    fn takes_reals(&self) -> bool {
        matches!(self, Meaning::Float(_))
    }
}

struct Map<'v> {
    op: ScalarOp,
    meaning: Meaning,
    args: Vec<Source<'v>>,
    errors: Vec<Option<Source<'v>>>,
    rounding: Rounding,
    /// Of the result.
    dtype: DType,
}

impl Elementwise for Map<'_> {
    fn compute(&self, scratch: &mut Scratch, span: &Span<'_>) -> Kind {
        self.read(scratch, span);
        let kind = self.apply(scratch, span.count);
        if span.has_bounds() {
            self.bound(scratch, span, kind);
        }
        kind
    }
}

impl Map<'_> {
    /// The condition of a selection among floats is the one operand that is not of the meaning's class.
    fn read(&self, scratch: &mut Scratch, span: &Span<'_>) {
        let condition = matches!(self.meaning, Meaning::Float(FloatMeaning::Select));
        for (place, source) in self.args.iter().enumerate() {
            let ints = &mut scratch.ints[place][..span.count];
            let reals = &mut scratch.reals[place][..span.count];
            if self.meaning.takes_reals() && !(condition && place == 0) {
                source.read_real(span, reals);
                continue;
            }
            source.read_int(span, ints);
            if span.has_bounds() {
                as_reals(Kind::of_ints(source.dtype()), ints, reals);
            }
        }
    }

    fn apply(&self, scratch: &mut Scratch, n: usize) -> Kind {
        let Scratch { reals: [x, y, z], ints: [a, b, c], real, int, .. } = scratch;
        let (x, y, z, a, b, c) = (&x[..n], &y[..n], &z[..n], &a[..n], &b[..n], &c[..n]);
        let (real, int) = (&mut real[..n], &mut int[..n]);
        match &self.meaning {
            Meaning::Float(FloatMeaning::Unary(f)) => (f.each)(x, real),
            Meaning::Float(FloatMeaning::Binary(f)) => (f.each)(x, y, real),
            Meaning::Float(FloatMeaning::BinaryIn(f)) => each2(x, y, real, |x, y| f(x, y, self.dtype)),
            Meaning::Float(FloatMeaning::Ternary(f)) => (f.each)([x, y, z], real),
            Meaning::Float(FloatMeaning::Compare(f)) => (f.each)(x, y, int),
            Meaning::Float(FloatMeaning::Select) => choose(a, y, z, real),
            Meaning::Int(IntMeaning::Unary(f), ty) => each(a, int, |a| f(a, *ty)),
            Meaning::Int(IntMeaning::Binary(f), ty) => (f.each)(a, b, *ty, int),
            Meaning::Int(IntMeaning::Ternary(f), ty) => {
                int.iter_mut().enumerate().for_each(|(k, out)| *out = f(a[k], b[k], c[k], *ty));
            }
            Meaning::Int(IntMeaning::Compare(f), ty) => {
                each2(a, b, int, |a, b| i64::from(f(ty.ordered(a), ty.ordered(b))));
            }
            Meaning::Int(IntMeaning::Select, _) | Meaning::Bool(BoolMeaning::Select) => choose(a, b, c, int),
            Meaning::Bool(BoolMeaning::Unary(f)) => each(a, int, |a| i64::from(f(a != 0))),
            Meaning::Bool(BoolMeaning::Binary(f)) => each2(a, b, int, |a, b| i64::from(f(a != 0, b != 0))),
        }
        match &self.meaning {
            Meaning::Int(IntMeaning::Compare(_), _) => Kind::Int,
            Meaning::Int(_, IntType::U64) => Kind::Unsigned,
            Meaning::Float(FloatMeaning::Compare(_)) | Meaning::Int(..) | Meaning::Bool(_) => Kind::Int,
            Meaning::Float(_) => Kind::Real,
        }
    }

    fn bound(&self, scratch: &mut Scratch, span: &Span<'_>, kind: Kind) {
        let n = span.count;
        if matches!(self.op.row().spread, Spread::Select) && self.errors[0].is_none() {
            return self.choose_bound(scratch, span);
        }
        let Scratch { reals, errors, real, int, error, .. } = scratch;
        as_reals(kind, &int[..n], real);
        let is_sure = self.errors.iter().all(Option::is_none);
        if is_sure && !matches!(self.op.row().spread, Spread::ProductSum) {
            error[..n].fill(0.0);
        } else {
            for (errors, block) in self.errors.iter().zip(&mut *errors) {
                read_errors(errors.as_ref(), span, &mut block[..n]);
            }
            let arity = self.args.len();
            let args: [&[f64]; 3] = std::array::from_fn(|k| &reals[k][..n]);
            let spreads: [&[f64]; 3] = std::array::from_fn(|k| &errors[k][..n]);
            spread(self.op, &args[..arity], &spreads[..arity], &real[..n], &mut error[..n]);
        }
        if self.dtype == DType::F64 && matches!(self.op.row().spread, Spread::Poles) {
            self.cancelled(&reals[0][..n], &mut error[..n]);
        }
        self.rounding.totals(&real[..n], &mut error[..n]);
    }

    /// lgamma below -2 is a difference of numbers above 1, which in doubles cancel near its zeros.
    fn cancelled(&self, x: &[f64], errors: &mut [f64]) {
        let of_one = self.op.row().ulp * self.rounding.ulp(1.0);
        let below = x.iter().zip(errors).filter(|(x, _)| **x < -2.0);
        below.for_each(|(_, error)| *error += of_one);
    }

    /// If the condition is exact, the bound is that of the chosen value.
    fn choose_bound(&self, scratch: &mut Scratch, span: &Span<'_>) {
        let n = span.count;
        let Scratch { errors: [_, yes, no], ints: [condition, ..], error, .. } = scratch;
        read_errors(self.errors[1].as_ref(), span, &mut yes[..n]);
        read_errors(self.errors[2].as_ref(), span, &mut no[..n]);
        choose(&condition[..n], &yes[..n], &no[..n], &mut error[..n]);
    }
}

/// A block of the errors of an operand, which may have none.
fn read_errors(errors: Option<&Source<'_>>, span: &Span<'_>, block: &mut [f64]) {
    match errors {
        Some(source) => source.read_errors(span, block),
        None => block.fill(0.0),
    }
}

fn each<A: Copy, R>(args: &[A], out: &mut [R], f: impl Fn(A) -> R) {
    out.iter_mut().zip(args).for_each(|(out, &a)| *out = f(a));
}

fn each2<A: Copy, R>(left: &[A], right: &[A], out: &mut [R], f: impl Fn(A, A) -> R) {
    out.iter_mut().zip(left.iter().zip(right)).for_each(|(out, (&a, &b))| *out = f(a, b));
}

fn choose<A: Copy>(condition: &[i64], yes: &[A], no: &[A], out: &mut [A]) {
    wide(Choose { condition, yes, no, out });
}

/// Of two slices, the first where a condition holds.
struct Choose<'a, A> {
    condition: &'a [i64],
    yes: &'a [A],
    no: &'a [A],
    out: &'a mut [A],
}

impl<A: Copy> NullaryFnOnce for Choose<'_, A> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let both = self.yes.iter().zip(self.no);
        for (out, (&condition, (&yes, &no))) in self.out.iter_mut().zip(self.condition.iter().zip(both)) {
            *out = if condition != 0 { yes } else { no };
        }
    }
}

struct Cast<'v> {
    arg: Source<'v>,
    errors: Option<Source<'v>>,
    dtype: DType,
    rounding: Rounding,
}

impl Elementwise for Cast<'_> {
    fn compute(&self, scratch: &mut Scratch, span: &Span<'_>) -> Kind {
        let Scratch { real, int, error, .. } = scratch;
        let count = span.count;
        let kind = match self.arg.dtype().is_float() {
            true => {
                self.arg.read_real(span, &mut real[..count]);
                Kind::Real
            }
            false => {
                self.arg.read_int(span, &mut int[..count]);
                Kind::of_ints(self.arg.dtype())
            }
        };
        if let (true, Some(errors)) = (span.has_bounds(), &self.errors) {
            as_reals(kind, &int[..count], real);
            errors.read_errors(span, &mut error[..count]);
            convert(self.dtype, &real[..count], &mut error[..count], &self.rounding);
        }
        kind
    }
}
