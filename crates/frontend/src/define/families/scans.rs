//! Scans, and folds and scans whose monoid is given: by a lambda, or by name.
//!
//! Half types are combined in f32, and each result rounded once. Nothing is promoted. A complex tensor is two states, its
//! parts; its lambda is written over complex numbers. A named scan along an axis of the static size 1 is a copy.

use ir::definition::{Function, Object, Term};
use ir::graph::{Shape, TensorOp, Val};
use ops::{Arith, BodyArith, DType, Lambda, Monoid, Scalar, ScalarOp};

use super::{folds, lambda};
use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

/// `cumsum`, `cumprod`, `cummax` or `cummin`: a scan of one state that a primitive combines.
pub(super) fn scan(
    ops: &mut OpBuilder,
    monoid: Monoid,
    scalar_op: ScalarOp,
    bound: &Bound,
    arg: Val,
) -> Result<Val, DefineError> {
    let axis = bound.axis("dim", ops.graph.shape(arg).len())?;
    let dtype = ops.graph.dtype(arg);
    if dtype == DType::Bool {
        let error = ops.reject("a tensor of numbers", "one of bool").argument("arg");
        return Err(error.at(bound.span(0)).help("cast it to DataType.Int first"));
    }
    let x = ops.cast(arg, dtype.compute())?;
    let mut result = x;
    if !ops.graph.shape(x)[axis].is_one() {
        result = ops.add(TensorOp::Scan { monoid, axis: axis as u8 }, &[x])?;
    }
    if let Some(init) = init(ops, bound, dtype)? {
        result = ops.map(scalar_op, &[init, result])?;
    }
    ops.cast(result, dtype)
}

/// The initial value of a named scan of tensors of a dtype, in the compute dtype.
fn init(ops: &mut OpBuilder, bound: &Bound, dtype: DType) -> Result<Option<Val>, DefineError> {
    match bound.object("init") {
        Object::None => Ok(None),
        Object::Number(scalar) if scalar.fits_as_bound(held(dtype)) => {
            ops.constant(scalar.cast(held(dtype)).cast(dtype.compute())).map(Some)
        }
        Object::Number(_) => Err(bound.reject("init", &format!("a number that {dtype} can hold"))),
        object => match object.as_value() {
            Some(value) if ops.graph.shape(value.val).is_empty() => {
                ops.cast(value.val, dtype.compute()).map(Some)
            }
            _ => Err(bound.reject("init", "a number or a scalar")),
        },
    }
}

/// The dtype that holds the states of a fold or scan of tensors of a dtype: half types are combined in f32, narrow integers
/// within their own range.
fn held(dtype: DType) -> DType {
    if dtype.is_int() { dtype } else { dtype.compute() }
}

/// `fold`: the states, each rounded to the dtype of its tensor.
pub(super) fn general_fold(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (vals, dtypes) = elements(ops, bound)?;
    let monoid = monoid(ops, bound, &dtypes)?;
    check_start(bound, &monoid)?;
    let rank = ops.graph.shape(vals[0]).len();
    let axes = bound.axes("dims", rank)?.unwrap_or_else(|| (0..rank as u8).collect());
    if axes.is_empty() {
        return Err(bound.reject("dims", "a list of at least one axis of the tensors"));
    }
    let states = folds::fold_states(ops, monoid, &vals, axes, bound.flag("keepdim"))?;
    let states = rounded_states(ops, states, &dtypes)?;
    match bound.object("finalize") {
        Object::Function(function) => lambda::finalized(ops, function, states),
        _ => Ok(states),
    }
}

/// `scan`: the states at each place, each rounded to the dtype of its tensor.
pub(super) fn general_scan(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (vals, dtypes) = elements(ops, bound)?;
    let axis = bound.axis("dim", ops.graph.shape(vals[0]).len())? as u8;
    let monoid = monoid(ops, bound, &dtypes)?;
    let node = ops.add_node(TensorOp::Scan { monoid, axis }, &vals)?;
    let states = ops.graph.results(node).collect();
    rounded_states(ops, states, &dtypes)
}

fn rounded_states(ops: &mut OpBuilder, states: Vec<Val>, dtypes: &[DType]) -> Result<Vec<Val>, DefineError> {
    let mut states = states.into_iter();
    let mut rounded = Vec::with_capacity(states.len());
    while let Some(state) = states.next() {
        let dtype = dtypes[rounded.len().min(dtypes.len() - 1)];
        rounded.push(match dtype.is_complex() {
            true => ops.pair([state, states.next().expect("the imaginary part is the next state")])?,
            false => ops.cast(state, dtype)?,
        });
    }
    Ok(rounded)
}

/// The states of a fold or scan, expanded to one shape and in their compute dtypes, and the dtypes of its tensors.
fn elements(ops: &mut OpBuilder, bound: &Bound) -> Result<(Vec<Val>, Vec<DType>), DefineError> {
    let tensors = bound.tensors("tensors");
    if tensors.is_empty() || tensors.iter().any(|&value| ops.is_scalar(value)) {
        return Err(bound.reject("tensors", "a tensor or a list of tensors"));
    }
    let vals: Vec<Val> = tensors.iter().map(|value| value.val).collect();
    let dtypes: Vec<DType> = vals.iter().map(|&val| ops.graph.dtype(val)).collect();
    let shape = common_shape(ops, bound, &vals)?;
    let mut states = Vec::with_capacity(vals.len());
    for val in vals {
        match ops.graph.dtype(val) {
            dtype if dtype.is_complex() => states.extend(ops.whole_parts(val)?),
            dtype => states.push(ops.cast(val, dtype.compute())?),
        }
    }
    for state in &mut states {
        if *ops.graph.shape(*state) != shape {
            *state = ops.add(TensorOp::Expand(shape.clone()), &[*state])?;
        }
    }
    Ok((states, dtypes))
}

/// The common shape of tensors of one rank, with sizes of 1 expanded.
fn common_shape(ops: &mut OpBuilder, bound: &Bound, vals: &[Val]) -> Result<Shape, DefineError> {
    let mut shape = ops.shape(vals[0]);
    for &val in &vals[1..] {
        let other = ops.shape(val);
        if other.len() != shape.len() {
            return Err(bound.reject("tensors", "tensors of one rank"));
        }
        for (size, other) in shape.iter_mut().zip(other).filter(|(_, other)| !other.is_one()) {
            if size.is_one() {
                *size = other;
            } else if ops.facts.prove_ne(size, &other) || ops.facts.assume_equal(size, &other).is_err() {
                return Err(
                    bound.reject("tensors", &format!("tensors of one shape, not sizes {size} and {other}"))
                );
            }
        }
    }
    Ok(shape)
}

/// The monoid of `combine` and `init`, for elements of tensors of these dtypes.
fn monoid(ops: &mut OpBuilder, bound: &Bound, dtypes: &[DType]) -> Result<Monoid, DefineError> {
    let starts = dtypes;
    let dtypes: Vec<DType> = dtypes.iter().map(|dtype| dtype.compute()).collect();
    match bound.object("combine") {
        Object::Function(function) => {
            let identity = identity(bound, starts)?;
            lambda(ops, function, &dtypes, &identity)
        }
        Object::Text(_) if *bound.object("init") != Object::None => {
            Err(bound.reject("init", "left out: a named fold knows its own"))
        }
        Object::Text(name) => match dtypes[..] {
            [dtype] if dtype.is_complex() => complex_monoid(ops, bound, name, dtype),
            _ => named(bound, name, dtypes.len()),
        },
        _ => Err(bound.reject("combine", "a lambda, or the name of a fold in quotes")),
    }
}

/// A named fold of complex numbers: their sum or their product.
fn complex_monoid(ops: &OpBuilder, bound: &Bound, name: &str, dtype: DType) -> Result<Monoid, DefineError> {
    match name {
        "sum" => of_two(ops, "add", Scalar::complex(dtype, 0.0, 0.0)),
        "prod" => of_two(ops, "mul", Scalar::complex(dtype, 1.0, 0.0)),
        _ => Err(bound.reject("combine", "a lambda, or one of sum, prod, as the tensor is complex")),
    }
}

/// The monoid of an op on two numbers of the dtype of `identity`.
pub(in crate::define) fn of_two(ops: &OpBuilder, op: &str, identity: Scalar) -> Result<Monoid, DefineError> {
    let params = ["a", "b"].map(str::to_owned).to_vec();
    let results = vec![Term::call(op, [Term::Param(0), Term::Param(1)])];
    lambda(ops, &Function { params, results }, &[identity.dtype()], &[identity])
}

/// The monoid of a function of the states of two runs; a complex state becomes two real ones.
fn lambda(
    ops: &OpBuilder,
    function: &Function,
    dtypes: &[DType],
    identity: &[Scalar],
) -> Result<Monoid, DefineError> {
    let body = lambda::body(ops, function, &[dtypes, dtypes].concat(), dtypes)?;
    let parts = identity.iter().flat_map(|scalar| match scalar.dtype().is_complex() {
        true => vec![scalar.real(), scalar.imag()],
        false => vec![*scalar],
    });
    Ok(Monoid::Lambda(Lambda::new(body, parts).expect("the body was made for these states")))
}

/// The start of runs of a lambda, for tensors of these dtypes, in their compute dtypes.
fn identity(bound: &Bound, dtypes: &[DType]) -> Result<Vec<Scalar>, DefineError> {
    let given = bound.object("init").as_list().unwrap_or_default();
    let expected = || match dtypes.len() {
        1 => "a number: what stands before any element".to_owned(),
        states => format!("a list of {states} numbers: the states before any element"),
    };
    let number = |(object, &dtype): (&Object, &DType)| match object {
        Object::Number(scalar) if scalar.fits_as_bound(held(dtype)) => {
            Some(scalar.cast(held(dtype)).cast(dtype.compute()))
        }
        _ => None,
    };
    let scalars: Option<Vec<Scalar>> = given.iter().zip(dtypes).map(number).collect();
    let fits = given.len() == dtypes.len();
    scalars.filter(|_| fits).ok_or_else(|| bound.reject("init", &expected()))
}

/// Checks that the start of a fold by a lambda, combined with itself, stays as it is: any number of runs begin with it, as
/// many as there are lanes, threads and blocks. NaN of 0 / 0 or of infinities is the lambda's own: passes replace such sums.
fn check_start(bound: &Bound, monoid: &Monoid) -> Result<(), DefineError> {
    let Monoid::Lambda(lambda) = monoid else { return Ok(()) };
    let start = lambda.identity();
    let twice = monoid.combine(&mut OnConstants, start, start);
    let is_same = |(&one, &two): (&Scalar, &Scalar)| match one.dtype().is_float() {
        true => one.as_f64() == two.as_f64() || two.as_f64().is_nan(),
        false => one == two,
    };
    if start.iter().zip(&twice).all(is_same) {
        return Ok(());
    }
    let listed = |states: &[Scalar]| {
        let texts: Vec<String> = states.iter().map(Scalar::to_string).collect();
        if texts.len() == 1 { texts[0].clone() } else { format!("[{}]", texts.join(", ")) }
    };
    let expected = "a start that combined with itself stays as it is";
    let help = format!(
        "any number of runs begin with it, and two of them make {} of {}: fold from what changes nothing, and \
         combine the result with a start of your own",
        listed(&twice),
        listed(start)
    );
    Err(bound.reject("init", expected).help(help))
}

/// Arithmetic on constants.
struct OnConstants;

impl Arith for OnConstants {
    type V = Scalar;

    fn apply(&mut self, op: ScalarOp, args: &[Scalar]) -> Scalar {
        op.of_scalars(args).expect("a body computes in dtypes that its ops have")
    }

    fn constant(&mut self, value: f64) -> Scalar {
        unreachable!("{value}: bodies have constants with a dtype")
    }
}

impl BodyArith for OnConstants {
    fn scalar(&mut self, constant: Scalar) -> Scalar {
        constant
    }

    fn cast(&mut self, value: &Scalar, _: DType, to: DType) -> Scalar {
        value.cast(to)
    }
}

/// The named fold of `tensors` tensors.
fn named(bound: &Bound, name: &str, tensors: usize) -> Result<Monoid, DefineError> {
    let named = Monoid::from_name(name).filter(|named| named.operands() == tensors);
    named.ok_or_else(|| {
        let names: Vec<&str> = Monoid::NAMED.iter().map(Monoid::name).collect();
        let names = names.join(", ");
        bound.reject("combine", &format!("a lambda, or one of {names} for as many tensors as it takes"))
    })
}
