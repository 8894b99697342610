//! Tensor ops on complex tensors: data movement applies to both parts alike, and a sum is the sums of the parts.

use ir::array::Part;
use ir::definition::{NamedValue, Object};
use ir::graph::Val;
use ops::{LanguageOp, ParamKind, Scalar};

use super::{complex_argument, complex_dtype, elementwise, matrices, moments, no_complex, products};
use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;
use crate::define::families;

/// The ops that are the same op of each part.
const BY_PARTS: &[LanguageOp] = &[
    LanguageOp::Broadcast,
    LanguageOp::BroadcastInDim,
    LanguageOp::Expand,
    LanguageOp::Squeeze,
    LanguageOp::Reshape,
    LanguageOp::Permute,
    LanguageOp::Slice,
    LanguageOp::Cat,
    LanguageOp::Full,
    LanguageOp::Gather,
    LanguageOp::TakeAlongAxis,
    LanguageOp::IndexSelect,
    LanguageOp::Select,
    LanguageOp::Triu,
    LanguageOp::EmbeddingFwd,
    LanguageOp::Sum,
    LanguageOp::Cumsum,
    LanguageOp::Mean,
    LanguageOp::Scatter,
];

/// The results of an op with a complex argument.
pub(in crate::define) fn tensor_op(
    ops: &mut OpBuilder,
    op: LanguageOp,
    bound: &Bound,
) -> Result<Vec<Val>, DefineError> {
    match op {
        LanguageOp::Var | LanguageOp::VarMean | LanguageOp::Welford => moments::moments(ops, op, bound),
        LanguageOp::Any | LanguageOp::All => {
            let bound = elementwise::as_bools(ops, bound)?;
            families::language_op(ops, op, &bound)
        }
        LanguageOp::Sum | LanguageOp::Prod if bound.dtype("dtype").is_some() => {
            let bound = in_dtype(ops, bound)?;
            match complex_argument(ops, &bound) {
                Some(_) => tensor_op(ops, op, &bound),
                None => families::language_op(ops, op, &bound),
            }
        }
        LanguageOp::Prod => products::product(ops, op, bound).map(|val| vec![val]),
        LanguageOp::StandardDeviation => {
            let parts = of_parts(ops, op, bound)?;
            let (parts, dtype) = ([parts[0][0], parts[1][0]], ops.graph.dtype(parts[0][0]));
            ops.expression("hypot(x, y)", &["x", "y"], &parts, dtype).map(|val| vec![val])
        }
        LanguageOp::Fold | LanguageOp::Scan => families::language_op(ops, op, bound),
        LanguageOp::Matmul | LanguageOp::Linear => matrices::product(ops, op, bound).map(|val| vec![val]),
        LanguageOp::Cumprod => {
            check_holds(ops, bound)?;
            products::product(ops, op, bound).map(|val| vec![val])
        }
        LanguageOp::Pad => {
            check_complex_fill(ops, bound)?;
            by_parts(ops, op, bound)
        }
        _ if BY_PARTS.contains(&op) => by_parts(ops, op, bound),
        _ => Err(no_complex(ops, bound)),
    }
}

fn by_parts(ops: &mut OpBuilder, op: LanguageOp, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    check_holds(ops, bound)?;
    let [re, im] = of_parts(ops, op, bound)?;
    re.into_iter().zip(im).map(|parts| ops.pair(parts.into())).collect()
}

/// A complex tensor is padded with a complex number, as in nvFuser, or with zero if none is given.
fn check_complex_fill(ops: &OpBuilder, bound: &Bound) -> Result<(), DefineError> {
    let is_real =
        *bound.object("value") != Object::None && complex_dtype(ops, bound.object("value")).is_none();
    match is_real && complex_dtype(ops, bound.object("arg")).is_some() {
        true => Err(bound.reject("value", "a complex number, as the tensor is complex")),
        false => Ok(()),
    }
}

/// The results for the real parts of the arguments, and those for the imaginary parts.
fn of_parts(ops: &mut OpBuilder, op: LanguageOp, bound: &Bound) -> Result<[Vec<Val>; 2], DefineError> {
    let mut part = |part: Part| {
        let bound = part_of_arguments(ops, bound, part)?;
        families::language_op(ops, op, &bound)
    };
    Ok([part(Part::Real)?, part(Part::Imaginary)?])
}

/// The arguments of a sum or product with the tensor in the requested dtype; the request for a real one stays.
fn in_dtype(ops: &mut OpBuilder, bound: &Bound) -> Result<Bound, DefineError> {
    let arg = bound.tensor("arg")?;
    let dtype = bound.dtype("dtype").unwrap_or(ops.graph.dtype(arg.val));
    let val = ops.cast(arg.val, dtype)?;
    let objects = bound.objects().iter().enumerate().map(|(slot, object)| match bound.name(slot) {
        "arg" => Object::Value(NamedValue { val, ..arg }),
        "dtype" if dtype.is_complex() => Object::None,
        _ => object.clone(),
    });
    Ok(bound.with_objects(objects.collect()))
}

/// A complex number goes into complex tensors only, and tensors that are joined are all complex or all real.
fn check_holds(ops: &OpBuilder, bound: &Bound) -> Result<(), DefineError> {
    let is_complex = |object: &Object| complex_dtype(ops, object).is_some();
    let mut slots = (0..bound.objects().len()).filter(|&slot| is_complex(&bound.objects()[slot]));
    let first = slots.next().unwrap_or(0);
    // A tensor that the result is made of, rather than a number that is inserted.
    let slot = std::iter::once(first).chain(slots).find(|&slot| bound.kind(slot) != ParamKind::Scalar);
    let slot = slot.unwrap_or(first);
    if bound.name(slot) == "src" {
        let expected = "a tensor of real numbers, as the one that it goes into is real";
        return Err(bound.reject("src", expected));
    }
    let mixed = |object: &Object| {
        let items = object.as_list().unwrap_or_default();
        items.iter().any(is_complex) && !items.iter().all(is_complex)
    };
    match bound.kind(slot) {
        ParamKind::Scalar => Err(ops
            .reject("a real number, as the tensor is real", "a complex one")
            .argument(bound.name(slot))
            .at(bound.span(slot))),
        ParamKind::Tensors if mixed(&bound.objects()[slot]) => {
            Err(ops.reject("tensors of one dtype", "complex and real ones").at(bound.span(slot)))
        }
        _ => Ok(()),
    }
}

/// The arguments with one part of each complex value; the imaginary part of real numbers beside complex tensors is zero.
fn part_of_arguments(ops: &mut OpBuilder, bound: &Bound, part: Part) -> Result<Bound, DefineError> {
    let mut objects = Vec::with_capacity(bound.objects().len());
    for (slot, object) in bound.objects().iter().enumerate() {
        let is_number = matches!(bound.name(slot), "value" | "fill_value" | "init" | "src");
        objects.push(part_of(ops, object, part, is_number)?);
    }
    Ok(bound.with_objects(objects))
}

fn part_of(ops: &mut OpBuilder, object: &Object, part: Part, is_number: bool) -> Result<Object, DefineError> {
    let drops = is_number && part == Part::Imaginary;
    Ok(match object {
        Object::DType(dtype) => Object::DType(dtype.real()),
        Object::Number(scalar) if scalar.dtype().is_complex() => Object::Number(match part {
            Part::Real => scalar.real(),
            Part::Imaginary => scalar.imag(),
        }),
        Object::Value(value) if ops.graph.dtype(value.val).is_complex() => {
            let parts = ops.whole_parts(value.val)?;
            Object::Value(NamedValue { val: parts[part as usize], ..*value })
        }
        Object::Number(scalar) if drops => Object::Number(Scalar::zero(scalar.dtype())),
        Object::Value(_) if drops => Object::int(0),
        Object::List(items) => {
            let items = items.iter().map(|item| part_of(ops, item, part, false));
            Object::list(items.collect::<Result<Vec<Object>, DefineError>>()?)
        }
        other => other.clone(),
    })
}
