//! Random scans, and folds and scans of monoids by a lambda or by name.

use std::sync::Arc;

use ferrofuse::DType;
use ir::definition::{Function, Term};
use ops::{LanguageOp, Monoid};

use super::caller::{Caller, operands};
use super::{folds, scalar};
use crate::random::program::{Given, Tensor};

/// A monoid as a definition specifies it: how it combines, its initial state, how many tensors it takes.
struct Drawn {
    combine: Given,
    init: Option<Vec<f64>>,
    tensors: usize,
    results: u32,
}

pub(super) fn scan(caller: &mut Caller<'_>, op: LanguageOp) -> Option<()> {
    let tensor = caller.number_tensor()?;
    let axis = caller.axis(tensor)?;
    let mut arguments = operands([tensor]);
    arguments.push((Some("dim"), caller.dim(tensor, axis)));
    if caller.draws.percent(30) {
        arguments.push((Some("init"), Given::Number(scalar::number(caller))));
    }
    caller.add_language_op(op, arguments, 1).map(drop)
}

pub(super) fn general_scan(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.number_tensor()?;
    let axis = caller.axis(tensor)?;
    let dim = caller.dim(tensor, axis);
    general(caller, LanguageOp::Scan, vec![("dim", dim)], tensor)
}

pub(super) fn general_fold(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.number_tensor()?;
    let mut place = Vec::new();
    if caller.draws.percent(80) {
        place.push(("dims", Given::Numbers(folds::some_axes(caller, tensor))));
    }
    if caller.draws.percent(40) {
        place.push(("keepdim", Given::flag(true)));
    }
    general(caller, LanguageOp::Fold, place, tensor)
}

/// A fold or scan of a random monoid, of tensors with the shape of this one.
fn general(
    caller: &mut Caller<'_>,
    op: LanguageOp,
    place: Vec<(&'static str, Given)>,
    tensor: Tensor,
) -> Option<()> {
    let dtype = caller.draft.dtype(tensor);
    let drawn = match (dtype.is_complex(), caller.draws.percent(70)) {
        (true, _) => complex_lambda(caller, op),
        (false, true) => lambda(caller, dtype.is_float()),
        (false, false) => named(caller, dtype.is_float()),
    };
    let mut tensors = vec![tensor];
    while tensors.len() < drawn.tensors {
        tensors.push(if dtype.is_complex() { caller.alike(tensor) } else { second(caller, tensor)? });
    }
    let mut arguments = vec![(None, Given::Tensors(tensors)), (Some("combine"), drawn.combine)];
    arguments.extend(drawn.init.map(|init| (Some("init"), Given::Reals(init))));
    arguments.extend(place.into_iter().map(|(name, given)| (Some(name), given)));
    caller.add_language_op(op, arguments, drawn.results).map(drop)
}

/// A second tensor for a pair of states: positive, of the same shape.
fn second(caller: &mut Caller<'_>, tensor: Tensor) -> Option<Tensor> {
    let exponent = caller.add("tanh", operands([tensor]), 1)?;
    let positive = caller.add("exp", operands([exponent]), 1)?;
    caller.cast_to(positive, DType::F32)
}

fn named(caller: &mut Caller<'_>, is_float: bool) -> Drawn {
    let named = Monoid::NAMED[..if is_float { 5 } else { 4 }].to_vec();
    let monoid = caller.draws.one_of(&named);
    Drawn {
        combine: Given::Text(monoid.name()),
        init: None,
        tensors: monoid.operands(),
        results: monoid.results() as u32,
    }
}

/// The combination of complex numbers: by name, or a lambda that is associative, and commutative except in a scan.
fn complex_lambda(caller: &mut Caller<'_>, op: LanguageOp) -> Drawn {
    let [a, b] = [Term::Param(0), Term::Param(1)];
    let (result, init) = match caller.draws.below(5) {
        0 => (Term::call("add", [a, b]), 0.0),
        1 => (Term::call("mul", [a, b]), 1.0),
        // (1 + a)(1 + b) - 1.
        2 => {
            let sum = Term::call("add", [a.clone(), b.clone()]);
            (Term::call("add", [sum, Term::call("mul", [a, b])]), 0.0)
        }
        3 if op == LanguageOp::Scan => return linear_recurrence(),
        _ => {
            let combine = Given::Text(caller.draws.one_of(&["sum", "prod"]));
            return Drawn { combine, init: None, tensors: 1, results: 1 };
        }
    };
    Drawn { combine: function(&["a", "b"], vec![result]), init: Some(vec![init]), tensors: 1, results: 1 }
}

/// A lambda that is associative and commutative.
fn lambda(caller: &mut Caller<'_>, is_float: bool) -> Drawn {
    let [a, b] = [Term::Param(0), Term::Param(1)];
    let (result, init) = match caller.draws.below(if is_float { 6 } else { 3 }) {
        0 => (Term::call("add", [a, b]), 0.0),
        1 => (Term::call("maximum", [a, b]), -100.0),
        2 => (Term::call("where", [Term::call("lt", [a.clone(), b.clone()]), a, b]), 100.0),
        3 => return weighted_sum(),
        4 => {
            let forms = [Rescaling::Both, Rescaling::Smaller, Rescaling::Guarded];
            return log_sum_exp(caller.draws.one_of(&forms));
        }
        _ => {
            let squares = [a.clone(), b.clone()].map(|x| Term::call("mul", [x.clone(), x]));
            (Term::call("sqrt", [Term::call("add", squares)]), 0.0)
        }
    };
    Drawn { combine: function(&["a", "b"], vec![result]), init: Some(vec![init]), tensors: 1, results: 1 }
}

fn function(params: &[&str], results: Vec<Term>) -> Given {
    let params = params.iter().map(|&name| name.to_owned()).collect();
    Given::Function(Arc::new(Function { params, results }))
}

/// The composition of maps `x -> a x + b`, which is associative (Blelloch: Prefix sums and their applications, 1990).
fn linear_recurrence() -> Drawn {
    let [a, b, c, d] = [0, 1, 2, 3].map(Term::Param);
    let slope = Term::call("mul", [a, c.clone()]);
    let start = Term::call("add", [Term::call("mul", [c, b]), d]);
    let combine = function(&["a", "b", "c", "d"], vec![slope, start]);
    Drawn { combine, init: Some(vec![1.0, 0.0]), tensors: 2, results: 2 }
}

/// How online softmax rescales the sums of two runs by the larger maximum.
#[derive(Clone, Copy)]
enum Rescaling {
    /// Both.
    Both,
    /// That of the smaller one.
    Smaller,
    /// Both, by 1 for the run with the larger maximum, even if that is infinite.
    Guarded,
}

/// The largest element and the sum of exponentials relative to it, as in online softmax (Milakov and Gimelshein: Online
/// normalizer calculation for softmax, 2018).
fn log_sum_exp(rescaling: Rescaling) -> Drawn {
    let [m, s, n, t] = [0, 1, 2, 3].map(Term::Param);
    let top = Term::call("maximum", [m.clone(), n.clone()]);
    let power = |x: Term| Term::call("exp", [Term::call("sub", [x, top.clone()])]);
    let guarded = |x: Term| {
        Term::call("where", [Term::call("eq", [x.clone(), top.clone()]), Term::number(1.0), power(x)])
    };
    let is_larger = Term::call("gt", [m.clone(), n.clone()]);
    let terms = match rescaling {
        Rescaling::Both => [Term::call("mul", [s, power(m)]), Term::call("mul", [t, power(n)])],
        Rescaling::Guarded => [Term::call("mul", [s, guarded(m)]), Term::call("mul", [t, guarded(n)])],
        Rescaling::Smaller => {
            let of_larger = Term::call("where", [is_larger.clone(), s.clone(), t.clone()]);
            let of_smaller = Term::call("where", [is_larger, t, s]);
            let factor = power(Term::call("minimum", [m, n]));
            [of_larger, Term::call("mul", [of_smaller, factor])]
        }
    };
    let combine = function(&["m", "s", "n", "t"], vec![top.clone(), Term::call("add", terms)]);
    Drawn { combine, init: Some(vec![-1000.0, 0.0]), tensors: 2, results: 2 }
}

/// Weighted mean and sum of weights.
fn weighted_sum() -> Drawn {
    let [x, v, y, w] = [0, 1, 2, 3].map(Term::Param);
    let weights = Term::call("add", [v.clone(), w.clone()]);
    let divisor = Term::call("maximum", [weights.clone(), Term::number(1e-6)]);
    let share = Term::call("div", [w, divisor]);
    let moved = Term::call("mul", [Term::call("sub", [y, x.clone()]), share]);
    let combine = function(&["x", "v", "y", "w"], vec![Term::call("add", [x, moved]), weights]);
    Drawn { combine, init: Some(vec![0.0, 0.0]), tensors: 2, results: 2 }
}
