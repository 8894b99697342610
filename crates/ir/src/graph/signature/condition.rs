//! Conditions on the size symbols of a view: its facts, and requirements of its ops that the facts do not prove.

use index::{EvalError, Expr, Range, Sym};
use indexmap::IndexSet;
use smallvec::SmallVec;

use crate::graph::{Fusion, Graph, Sizes, TensorOp};

/// A condition on the symbols.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub about: Expr,
    pub constraint: Constraint,
    /// The origin of the requirement, in words, if known.
    pub asked_by: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) enum Constraint {
    /// The symbol, which the condition is about, has this value.
    Equal(Expr),
    Zero,
    NonNegative,
    MultipleOf(i64),
    Within(Range),
}

impl Condition {
    /// The expression that the op requires to be zero, or zero or more: a range is required by its ends.
    pub fn subject(&self) -> Expr {
        match &self.constraint {
            Constraint::Within(range) => range.slack(&self.about).unwrap_or_else(|| self.about.clone()),
            _ => self.about.clone(),
        }
    }

    /// Whether it holds if its subject has this value. It holds if what it must equal has unknown sizes.
    pub fn holds(&self, value: i64, sizes: &Sizes) -> bool {
        match &self.constraint {
            Constraint::Equal(expected) => {
                let expected = sizes.try_value(expected);
                expected.map_or_else(|error| error != EvalError::Overflow, |expected| expected == value)
            }
            Constraint::Zero => value == 0,
            Constraint::NonNegative => value >= 0,
            Constraint::MultipleOf(divisor) => value % divisor == 0,
            Constraint::Within(range) => range.contains(i128::from(value)),
        }
    }

    /// The condition in symbols.
    pub fn words(&self) -> String {
        let about = &self.about;
        match &self.constraint {
            Constraint::Equal(value) => format!("{about} = {value}"),
            Constraint::Zero => format!("{about} = 0"),
            Constraint::NonNegative => format!("{about} >= 0"),
            Constraint::MultipleOf(divisor) => format!("{about} is a multiple of {divisor}"),
            Constraint::Within(range) => within(about, range),
        }
    }

    /// The expressions in it.
    pub fn expressions(&self) -> SmallVec<[&Expr; 2]> {
        let other = if let Constraint::Equal(value) = &self.constraint { Some(value) } else { None };
        std::iter::once(&self.about).chain(other).collect()
    }
}

fn within(about: &Expr, range: &Range) -> String {
    match (range.lo(), range.hi()) {
        (Some(lo), Some(hi)) => format!("{lo} <= {about} <= {hi}"),
        (Some(lo), None) => format!("{about} >= {lo}"),
        (None, Some(hi)) => format!("{about} <= {hi}"),
        (None, None) => format!("{about} = {about}"),
    }
}

/// All conditions of a view; `is_size` tells symbols that are sizes of its inputs.
pub(super) fn conditions(graph: &Graph, fusion: &Fusion, is_size: impl Fn(Sym) -> bool) -> Vec<Condition> {
    let mut conditions = known(fusion, is_size);
    conditions.extend(needed(graph, fusion));
    conditions
}

/// The facts of a view as constraints, without those that hold for every size.
fn known(fusion: &Fusion, is_size: impl Fn(Sym) -> bool) -> Vec<Condition> {
    let facts = fusion.facts();
    let says_something =
        |(sym, range): &(Sym, Range)| !(is_size(*sym) && range.hi().is_none() && range.lo() <= Some(0));
    let equal = facts.equalities().map(|(sym, value)| (Expr::sym(sym), Constraint::Equal(value.clone())));
    let zero = facts.relations().map(|zero| (zero.clone(), Constraint::Zero));
    let slack = facts.inequalities().map(|slack| (slack.clone(), Constraint::NonNegative));
    let multiple = facts.multiples().map(|(expr, divisor)| (expr, Constraint::MultipleOf(divisor)));
    let range = facts.ranges().filter(says_something);
    let range = range.map(|(sym, range)| (Expr::sym(sym), Constraint::Within(range)));
    let all = equal.chain(zero).chain(slack).chain(multiple).chain(range);
    all.map(|(about, constraint)| Condition { about, constraint, asked_by: None }).collect()
}

/// The requirements of a view's ops that the facts do not prove: no size is negative, and slices are in bounds. Kernels rely
/// on it for every value that they compute, in memory or not.
fn needed(graph: &Graph, fusion: &Fusion) -> Vec<Condition> {
    let mut needed: IndexSet<Expr> = IndexSet::new();
    for node in fusion.order().iter().map(|&node| graph.node(node)) {
        needed.extend(node.results.iter().flat_map(|ty| &ty.shape).cloned());
        if let TensorOp::Slice { starts, sizes } = &node.op {
            let extents = graph.shape(node.operands[0]);
            needed.extend(starts.iter().cloned());
            needed.extend(
                extents.iter().zip(starts).zip(sizes).map(|((extent, start), size)| extent - start - size),
            );
        }
    }
    let facts = fusion.facts();
    let unproved = needed.into_iter().filter(|slack| !facts.prove_le(&Expr::zero(), slack));
    unproved.map(|about| Condition { about, constraint: Constraint::NonNegative, asked_by: None }).collect()
}
