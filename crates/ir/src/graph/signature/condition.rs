//! What must hold of the size symbols of a view: its facts, and what its forms need that the facts do not prove.

use index::{Expr, Range, Sym};
use indexmap::IndexSet;

use crate::graph::{Form, Fusion, Graph, Sizes};

/// Something that must hold of the symbols.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub about: Expr,
    pub demand: Demand,
    /// What asks for it, in words, if that is known.
    pub asked_by: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) enum Demand {
    /// The symbol, which the condition is about, has this value.
    Equal(Expr),
    Zero,
    NonNegative,
    MultipleOf(i64),
    Within(Range),
}

impl Condition {
    /// What an op that asks for it has asked to be zero, or zero or more: a range is asked for by its ends.
    pub fn subject(&self) -> Expr {
        match &self.demand {
            Demand::Within(range) => range.slack(&self.about).unwrap_or_else(|| self.about.clone()),
            _ => self.about.clone(),
        }
    }

    /// Whether it holds where what it is about has this value. What cannot be evaluated is not held against the sizes.
    pub fn holds(&self, value: i64, sizes: &Sizes) -> bool {
        match &self.demand {
            Demand::Equal(expected) => sizes.try_value(expected).map_or(true, |expected| expected == value),
            Demand::Zero => value == 0,
            Demand::NonNegative => value >= 0,
            Demand::MultipleOf(divisor) => value % divisor == 0,
            Demand::Within(range) => range.contains(i128::from(value)),
        }
    }

    /// The condition in symbols, and an expression with all of them.
    pub fn words(&self) -> (String, Expr) {
        let about = &self.about;
        let alone = |text: String| (text, about.clone());
        match &self.demand {
            Demand::Equal(value) => (format!("{about} = {value}"), about + value),
            Demand::Zero => alone(format!("{about} = 0")),
            Demand::NonNegative => alone(format!("{about} >= 0")),
            Demand::MultipleOf(divisor) => alone(format!("{about} is a multiple of {divisor}")),
            Demand::Within(range) => alone(within(about, range)),
        }
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

/// What the facts of a view demand, less what holds of every size.
fn known(fusion: &Fusion, is_size: impl Fn(Sym) -> bool) -> Vec<Condition> {
    let facts = fusion.facts();
    let says_something =
        |(sym, range): &(Sym, Range)| !(is_size(*sym) && range.hi().is_none() && range.lo() <= Some(0));
    let equal = facts.equalities().map(|(sym, value)| (Expr::sym(sym), Demand::Equal(value.clone())));
    let zero = facts.relations().map(|zero| (zero.clone(), Demand::Zero));
    let slack = facts.inequalities().map(|slack| (slack.clone(), Demand::NonNegative));
    let multiple = facts.multiples().map(|(expr, divisor)| (expr, Demand::MultipleOf(divisor)));
    let range = facts.ranges().filter(says_something);
    let range = range.map(|(sym, range)| (Expr::sym(sym), Demand::Within(range)));
    let all = equal.chain(zero).chain(slack).chain(multiple).chain(range);
    all.map(|(about, demand)| Condition { about, demand, asked_by: None }).collect()
}

/// What the forms of a view need that the facts do not prove: no size is negative, and slices lie inside. Kernels rely on
/// it for every value that they compute, in memory or not.
fn needed(graph: &Graph, fusion: &Fusion) -> Vec<Condition> {
    let mut needed: IndexSet<Expr> = IndexSet::new();
    for node in fusion.order().iter().map(|&node| graph.node(node)) {
        needed.extend(node.results.iter().flat_map(|ty| &ty.shape).cloned());
        if let Form::Slice { starts, sizes } = &node.form {
            let extents = graph.shape(node.operands[0]);
            needed.extend(starts.iter().cloned());
            needed.extend(
                extents.iter().zip(starts).zip(sizes).map(|((extent, start), size)| extent - start - size),
            );
        }
    }
    let facts = fusion.facts();
    let unproved = needed.into_iter().filter(|slack| !facts.prove_le(&Expr::zero(), slack));
    unproved.map(|about| Condition { about, demand: Demand::NonNegative, asked_by: None }).collect()
}
