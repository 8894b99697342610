//! Where the values of size symbols are found in a call: sizes of inputs, elements of scalars, and sizes that are computed
//! from these.

use std::sync::Arc;

use index::{Expr, Sym};
use ops::{DType, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};

use super::condition::{Condition, Constraint};
use super::{InputError, asked};
use crate::array::ArrayView;
use crate::graph::computed::{ComputedSize, Known};
use crate::graph::container::SymbolSource;
use crate::graph::{Fusion, Graph, Sizes, TensorOp};

/// Where the value of a symbol is found in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The size of an axis of the input at this place.
    Size { input: usize, axis: usize },
    /// The element of the input at this place.
    Element { input: usize },
    /// A size that the call computes, by its number.
    Computed(usize),
    /// Nothing that the view sees: for random numbers, by default the beginning of the sequence of seed 0.
    Beginning,
}

/// A size that a call computes.
#[derive(Clone, Debug)]
pub(super) struct Computed {
    pub symbol: Sym,
    size: Arc<ComputedSize>,
    /// The places of the scalars that it depends on, by their ordinals.
    places: FxHashMap<u32, usize>,
    /// What uses it as a size, in words, if known.
    pub asked_by: Option<String>,
}

impl Computed {
    /// The places of the scalars that it depends on.
    pub fn inputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.values().copied()
    }

    /// Its value; `None` if something it depends on is unknown.
    pub fn value(&self, inputs: &[ArrayView<'_>], sizes: &Sizes) -> Result<Option<i64>, InputError> {
        let known = |known: &Known| match known {
            Known::Scalar(ordinal) => Some(inputs[self.places[ordinal]].scalar(0)),
            Known::Size(size) => sizes.value(size).ok().map(|size| Scalar::from_i64(DType::I64, size)),
        };
        let Some(value) = self.size.value(known) else { return Ok(None) };
        let reject = |why| {
            let words = format!("a size comes out as {value}, which is {why}");
            InputError::Computed(asked(self.asked_by.as_deref(), words))
        };
        self.size.whole(value).map(Some).map_err(reject)
    }
}

/// Where each symbol of the graph is found among the inputs of a view: its source, or otherwise, since inputs of a view may
/// be computed values, the first axis of that size.
pub(super) fn origins(graph: &Graph, fusion: &Fusion, computed: &mut Vec<Computed>) -> Vec<Option<Origin>> {
    let arguments = fusion.inputs().iter().enumerate().filter_map(|(place, &val)| match graph.op(val) {
        TensorOp::Input { ordinal, .. } => Some((*ordinal, place)),
        _ => None,
    });
    let places: FxHashMap<u32, usize> = arguments.collect();
    let find = |(symbol, source): (Sym, &SymbolSource)| match source {
        SymbolSource::InputSize { ordinal, axis } => {
            Some(Origin::Size { input: *places.get(ordinal)?, axis: *axis as usize })
        }
        SymbolSource::ScalarInput { ordinal } => Some(Origin::Element { input: *places.get(ordinal)? }),
        SymbolSource::Computed(size) => {
            let seen = size.scalars().map(|ordinal| Some((ordinal, *places.get(&ordinal)?)));
            let places = seen.collect::<Option<FxHashMap<u32, usize>>>()?;
            computed.push(Computed { symbol, size: Arc::clone(size), places, asked_by: None });
            Some(Origin::Computed(computed.len() - 1))
        }
        SymbolSource::Seed | SymbolSource::Offset => Some(Origin::Beginning),
    };
    let mut origins: Vec<Option<Origin>> = graph.symbols().iter().map(find).collect();
    for (input, &val) in fusion.inputs().iter().enumerate() {
        for (axis, size) in graph.shape(val).iter().enumerate() {
            if let Some(sym) = size.as_sym() {
                origins[sym.as_u32() as usize].get_or_insert(Origin::Size { input, axis });
            }
        }
    }
    origins
}

/// The symbols that a view mentions, and those that computing them takes. Others come from calls that were rejected, or
/// whose results nothing uses.
pub(super) fn mentioned(
    graph: &Graph,
    fusion: &Fusion,
    conditions: &[Condition],
    computed: &[Computed],
) -> FxHashSet<Sym> {
    let mut mentioned = FxHashSet::default();
    let mut mention = |size: &Expr| size.visit_symbols(&mut |symbol| _ = mentioned.insert(symbol));
    fusion.inputs().iter().flat_map(|&val| graph.shape(val)).for_each(&mut mention);
    for node in fusion.order().iter().map(|&node| graph.node(node)) {
        node.results.iter().flat_map(|ty| &ty.shape).for_each(&mut mention);
        match &node.op {
            TensorOp::Size(size) => mention(size),
            TensorOp::Slice { starts, .. } => starts.iter().for_each(&mut mention),
            TensorOp::Pad { before, after } => before.iter().chain(after).for_each(&mut mention),
            _ => {}
        }
    }
    // A condition on one size alone, such as that it is not negative, is void if the view does not mention it.
    for condition in conditions {
        match &condition.constraint {
            Constraint::Equal(size) => [&condition.about, size].into_iter().for_each(&mut mention),
            Constraint::Zero => mention(&condition.about),
            Constraint::NonNegative | Constraint::MultipleOf(_) | Constraint::Within(_) => {}
        }
    }
    // Computations use only earlier symbols.
    for size in computed.iter().rev() {
        if mentioned.contains(&size.symbol) {
            size.size.sizes().for_each(|size| size.visit_symbols(&mut |symbol| _ = mentioned.insert(symbol)));
        }
    }
    mentioned
}
